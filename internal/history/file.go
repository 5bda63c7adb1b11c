package history

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/parse"
)

// A File is one recording or one log of gclog.
type File struct {
	Name  string       // "standard input" for standard input
	Trace *parse.Trace // the head of a recording; nil: it is a log
	Log   logs.Head    // the head of a log

	// Results of reading it.
	Skipped logs.Skipped // lines of a log that are damaged or not gclog's
	Torn    bool         // the log ends in the middle of a line
	Err     error        // why it could not be read to its end; nil: it could

	handle io.Closer
	spool  *spool                    // of input that cannot be read twice; nil: it can be
	again  func() (io.Reader, error) // reads the file from its start once more

	reader *parse.Reader // of a recording
	until  int64         // up to when a recording lasts
	text   io.Reader     // of a log; nil: the file is opened again
	sum    uint64        // of the head of a log
}

// Stats returns what was counted in a recording.
func (f *File) Stats() parse.Stats { return f.reader.Stats() }

// begin returns the time at which the file starts.
func (f *File) begin() time.Time {
	if f.Trace != nil {
		return f.Trace.SyncTime
	}
	return f.Log.Time
}

// compare sorts files by time. Files of the same millisecond are sorted by name: the current file
// of a rotated log is its last.
func (f *File) compare(other *File) int {
	archived := func(name string) bool { return rotate.ArchivedFrom(name) != name }
	switch c := f.begin().Compare(other.begin()); {
	case c != 0:
		return c
	case archived(f.Name) != archived(other.Name):
		if archived(f.Name) {
			return -1
		}
		return 1
	}
	return strings.Compare(f.Name, other.Name)
}

// kind describes the file to people.
func (f *File) kind() string {
	if f.Trace != nil {
		return "a recording"
	}
	return "a log in the format " + f.Log.Format
}

// several reports whether the file may contain several processes. A log of one process contains
// another one only if files were concatenated: that matters if a process was asked for.
func (f *File) several(pid int64) bool {
	format, err := formats.Find(f.Log.Format)
	if err != nil {
		return f.Trace.Major >= 6
	}
	return format.ManyProcesses() || pid != 0
}

// A series is what the files of one log have in common.
type series struct {
	pid  int64
	name string // where the pid should be known and is not: files with the same name belong to the same process
}

func (f *File) series() (s series) {
	if f.Trace != nil {
		return s
	}
	s.pid = f.Log.ProcessID
	if format, err := formats.Find(f.Log.Format); err == nil && !format.ManyProcesses() && s.pid == 0 {
		s.name = rotate.ArchivedFrom(f.Name)
	}
	return s
}

func (f *File) close() {
	if f.handle != nil {
		_ = f.handle.Close()
	}
	if f.spool != nil {
		f.spool.close()
	}
}

// goesWith returns an error if a file cannot be read together with the ones before it.
func (f *File) goesWith(before []*File) error {
	for _, other := range before {
		switch {
		case (f.Trace == nil) != (other.Trace == nil), f.Log.Format != other.Log.Format:
			return callf("%s is %s, %s is %s: pass them one at a time", other.Name, other.kind(), f.Name, f.kind())
		case f.Trace != nil && !other.Trace.Dated():
			return callf("%s does not say when it was recorded: pass it alone", other.Name)
		case f.Trace == nil && f.sum == other.sum:
			return callf("%s and %s start with the same data: pass only one of them", other.Name, f.Name)
		}
	}
	return nil
}

// recognize determines what r is and reads its head. Input that is not text is left to the reader
// of recordings, which knows more kinds of files.
func (f *File) recognize(r io.Reader, want func(*parse.Metadata) parse.Want) error {
	head := make([]byte, len("Nettrace"), logs.HeadSize)
	n, err := io.ReadFull(r, head)
	if n == 0 && errors.Is(err, io.EOF) {
		return ErrEmpty
	}
	for head = head[:n]; err == nil && isText(head); {
		grown := make([]byte, min(max(2*len(head), logs.HeadSize), maxHead))
		copy(grown, head)
		n, err = io.ReadFull(r, grown[len(head):])
		head = grown[:len(head)+n]
		if log, ok := logs.Recognize(head); ok {
			f.Log, f.text, f.sum = log, io.MultiReader(bytes.NewReader(head), r), maphash.Bytes(headSeed, head)
			return log.Err()
		}
		if len(head) == maxHead {
			break
		}
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if want == nil {
		want = gclog.Wanted
	}
	f.reader = parse.NewReader(io.MultiReader(bytes.NewReader(head), r), want)
	f.Trace, err = f.reader.ReadTrace()
	if kind, ok := errors.AsType[*parse.KindError](err); ok && kind.Kind == parse.KindUnknown && isText(head) {
		return &TextError{head}
	}
	return err
}

var headSeed = maphash.MakeSeed()

// maxHead is how much of a text is searched for gclog's first line.
const maxHead = 1 << 20

// isText reports whether it may be a log: recordings start with other bytes, and contain text only
// later.
func isText(b []byte) bool {
	magic := []byte("Nettrace")
	return len(b) > 0 && !bytes.HasPrefix(b, magic) && !bytes.HasPrefix(magic, b) &&
		bytes.IndexByte(b[:min(len(b), 4096)], 0) < 0
}
