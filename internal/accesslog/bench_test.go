package accesslog

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"
)

// BenchmarkJoin joins logs as servers write them: nginx, ASP.NET with Serilog, and CSV.
func BenchmarkJoin(b *testing.B) {
	for _, x := range []struct {
		name, head string
		row        func(at time.Time, i int) string
		o          Options
	}{
		{"nginx", "", func(at time.Time, i int) string {
			return fmt.Sprintf(`{"msec":"%d.%03d","remote_addr":"10.0.0.%d","request":"GET /api/v1/orders/%d?expand=lines HTTP/1.1","status":200,"body_bytes_sent":%d,"request_time":"0.%03d","upstream_response_time":"0.%03d","http_referrer":"https://example.org/","http_user_agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"}`+"\n",
				at.Unix(), at.Nanosecond()/1e6, i%256, i, i*7%100000, i%100, i%100)
		}, Options{Time: "msec", Duration: "request_time", Unit: time.Second}},
		{"serilog", "", func(at time.Time, i int) string {
			return fmt.Sprintf(`{"@t":"%s","@mt":"HTTP {RequestMethod} {RequestPath} responded {StatusCode} in {Elapsed:0.0000} ms","@r":["%d.1234"],"RequestMethod":"GET","RequestPath":"/api/v1/orders/%d","StatusCode":200,"http":{"request":{"duration":%d.1234}},"SourceContext":"Serilog.AspNetCore.RequestLoggingMiddleware","RequestId":"0HN%08X:00000001"}`+"\n",
				at.Format("2006-01-02T15:04:05.0000000Z"), i%100, i, i%100, i)
		}, Options{Time: "@t", Duration: "http.request.duration"}},
		{"csv", "time,method,path,status,duration,agent\n", func(at time.Time, i int) string {
			return fmt.Sprintf(`%s,GET,/api/v1/orders/%d,200,%d,"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"`+"\n", at.Format("2006-01-02T15:04:05.000Z"), i, i%100)
		}, Options{Time: "time", Duration: "duration"}},
	} {
		b.Run(x.name, func(b *testing.B) {
			var log bytes.Buffer
			log.WriteString(x.head)
			const rows = 50000
			for i := range rows {
				log.WriteString(x.row(sync.Add(time.Duration(i)*time.Millisecond+time.Second), i))
			}
			line := timeline()
			b.SetBytes(int64(log.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if r, err := Join(io.Discard, bytes.NewReader(log.Bytes()), line, sync, x.o); err != nil || r.Joined < rows*9/10 {
					b.Fatal(err, r.Joined)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
