package history

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/parse"
)

func trace(name string) string {
	return filepath.Join("..", "..", "testdata", "traces", name+".nettrace.gz")
}

// TestOpenErrors: the types of errors distinguish what is wrong with files.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	recording, none := trace("net10-datas-bgc"), write("none", "")
	csv := write("a.csv", "StartRelativeMSec,Number,Generation,Type,Reason,\n")
	text := write("text", "nothing of ours\n")
	for _, x := range []struct {
		names string
		call  bool
		is    func(error) bool
	}{
		{filepath.Join(dir, "missing"), true, func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		{dir, true, nil},
		{recording + " " + recording, true, nil},
		{none, false, func(err error) bool { return errors.Is(err, ErrEmpty) }},
		{none + " " + write("other", ""), false, nil},
		{text, false, func(err error) bool {
			e, ok := errors.AsType[*TextError](err)
			return ok && string(e.Head) == "nothing of ours\n"
		}},
		{write("etlx", "\x14\x00\x00\x00!FastSerialization.1 TraceLog"), false, func(err error) bool {
			e, ok := errors.AsType[*parse.KindError](err)
			return ok && e.Kind != parse.KindUnknown
		}},
		{write("bad.gz", "\x1f\x8b\x08"), false, func(err error) bool {
			_, ok := errors.AsType[*unpack.Error](err)
			return ok
		}},
		{recording + " " + csv, true, func(err error) bool {
			return strings.Contains(err.Error(), "is a recording: pass them one at a time")
		}},
		{csv + " " + write("copy.csv", "StartRelativeMSec,Number,Generation,Type,Reason,\n"), true, func(err error) bool { return strings.Contains(err.Error(), "start with the same data") }},
	} {
		_, err := Open(strings.Fields(x.names), Options{})
		if _, call := errors.AsType[*CallError](err); err == nil || call != x.call || x.is != nil && !x.is(err) {
			t.Errorf("%s: %T: %v", x.names, err, err)
		}
	}
}

// TestSingle: which processes there are is determined before anything is passed on.
func TestSingle(t *testing.T) {
	both := trace("v6-merge-kvversion")
	for pid, want := range map[int64]bool{0: false, 1: false, 29261: true} {
		in, err := Open([]string{both}, Options{Choice: Choice{PID: pid}, Single: true})
		if e, ok := errors.AsType[*ProcessError](err); ok == want || ok && (e.PID != pid || len(e.Processes) != 2 || e.PIDs() != "27125, 29261") {
			t.Errorf("process %d: %v", pid, err)
		}
		if !want {
			continue
		}
		var read listing
		if err := in.ReadAll(read.observe); err != nil || !slices.Equal(read.pids, []int64{pid}) || len(read.gcs) == 0 {
			t.Errorf("process %d: %d collections of %v: %v", pid, len(read.gcs), read.pids, err)
		}
		in.Close()
	}
}

// A listing lists what ReadAll passes on.
type listing struct {
	pids    []int64
	gcs     []uint32
	open    int // sessions
	outside int // records outside any session
	source  *Source
	most    int // stop after this many collections; 0: do not stop
}

func (l *listing) observe(p *gclog.Process) gclog.Observer {
	if !slices.Contains(l.pids, p.ID) {
		l.pids = append(l.pids, p.ID)
	}
	return l.Observe
}

// Observe takes a record.
func (l *listing) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		l.open++
	case *gclog.End:
		l.open--
	case *gclog.GCDetails:
		l.gcs = append(l.gcs, r.Number)
		if l.open == 0 {
			l.outside++
		}
		if len(l.gcs) == l.most {
			l.source.Stop(errors.New("enough"))
		}
	}
}

// TestReadAll: a recording is passed on as gclog.Read does, in sessions that end.
func TestReadAll(t *testing.T) {
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		var want listing
		wantErr := gclog.Read(strings.NewReader(string(recordings.Read(t, tr.Path))), func(p *gclog.Process) gclog.Observer { return want.observe(p) })
		in, err := Open([]string{tr.Path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		got := listing{source: in}
		err = in.ReadAll(got.observe)
		if (err == nil) != (wantErr == nil) || !slices.Equal(got.gcs, want.gcs) || !slices.Equal(got.pids, want.pids) {
			t.Errorf("%d collections of %v, %v; want %d of %v, %v", len(got.gcs), got.pids, err, len(want.gcs), want.pids, wantErr)
		}
		if got.open != 0 || got.outside > 0 {
			t.Errorf("%d sessions have not ended, %d collections are outside of them", got.open, got.outside)
		}
		if len(got.gcs) < 2 {
			return
		}
		if in, err = Open([]string{tr.Path}, Options{}); err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		few := listing{source: in, most: len(got.gcs) / 2}
		if err := in.ReadAll(few.observe); err == nil || !strings.HasSuffix(err.Error(), ": enough") || len(few.gcs) >= len(got.gcs) {
			t.Errorf("stopped after %d of %d collections: %d, %v", few.most, len(got.gcs), len(few.gcs), err)
		}
	})
}

// TestInspect: Inspect sees everything, and what it rejects is not used.
func TestInspect(t *testing.T) {
	rows := int64(0)
	in, err := Open([]string{trace("net10-datas-bgc")}, Options{Want: parse.All, Inspect: func(r *parse.Reader) bool {
		if e := r.Event(); e != nil {
			rows += 1 + int64(e.More)
		}
		return false
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var got listing
	if err := in.ReadAll(got.observe); err != nil || len(got.pids) > 0 || rows != in.Files[0].Stats().Rows || !in.Heard() {
		t.Errorf("%d of %d rows, processes %v: %v", rows, in.Files[0].Stats().Rows, got.pids, err)
	}
}
