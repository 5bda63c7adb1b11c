package analysis_test

import (
	"bytes"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// keptLog keeps what a log contains.
type keptLog struct{ keeping }

// TestExplainLogs explains every collection of every recording as its logs contain it.
func TestExplainLogs(t *testing.T) {
	extent.Long(t)
	forEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		for _, name := range []string{"unified", "json", "csv"} {
			format, err := formats.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			var files []*logFile
			read(t, stream, func(p *gclog.Process) gclog.Observer {
				out := &logFile{}
				files = append(files, out)
				return formats.NewWriter(format, out, formats.Options{Process: *p}).Observe
			})
			for _, f := range files {
				if f.text != nil {
					explainLog(t, name, f.text)
				}
			}
		}
	})
}

func explainLog(t *testing.T, name string, text []byte) {
	t.Helper()
	head, ok := logs.Recognize(text[:min(len(text), logs.HeadSize)])
	if !ok {
		t.Fatalf("%s is not recognized: %.200s", name, text)
	}
	k := &keptLog{keeping{Peers: analysis.NewPeers()}}
	r, err := logs.NewReader(head, func(p *gclog.Process) gclog.Observer {
		k.process = p
		return k.Observe
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	r.Finish()
	if len(k.records) == 0 {
		t.Errorf("%s: no record", name)
	}
	const every = 7 // sentences are the same as those of recordings, of which all are judged; in full, these too
	for i, d := range k.records {
		e := analysis.Explain(d, analysis.Context{Process: k.process, HasBegin: true, Log: name, Peers: k.Peers})
		checkExplanation(t, d, &e)
		if j := newJudge(&k.keeping, d, &e); i%every == 0 || extent.Full() {
			j.judge() // what a page says must fit together there too
			for _, text := range j.wrong {
				t.Errorf("%s: %s", e.Title, text)
			}
		}
		if t.Failed() {
			t.Fatalf("%s: %s", name, e.Title)
		}
	}
}
