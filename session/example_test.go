package session_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/session"
)

// The stream must be read until its end, even after Stop: a runtime whose stream is not read keeps
// its buffers.
func ExampleClient_StartTracing() {
	ctx := context.Background()
	client := session.Client{Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", "/tmp/dotnet-diagnostic-4711-8051-socket")
	}}
	stream, err := client.StartTracing(ctx, session.Config{
		BufferMB:  16,
		Providers: []session.Provider{{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 1, Level: 4}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	time.AfterFunc(time.Minute, func() { _ = stream.Stop(ctx) })
	r := parse.NewReader(stream, parse.All)
	for r.Scan() {
		if e := r.Event(); e != nil {
			fmt.Println(e.Meta.EventID, len(e.Payload))
		}
	}
	if err := r.Err(); err != nil {
		log.Fatal(err)
	}
}
