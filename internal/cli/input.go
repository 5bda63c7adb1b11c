package cli

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/parse"
)

// An input is one recording, or one log of gclog.
type input struct {
	name  string
	file  io.Closer
	spool *spool                    // of what cannot be read twice; nil: it can, or need not
	again func() (io.Reader, error) // reads it from the begin on once more

	want   func(*parse.Metadata) parse.Want // as that of inputs
	reader *parse.Reader                    // of a recording
	trace  *parse.Trace
	log    logs.Head // of a log; no Format: it is a recording
	sum    uint64    // of its head
	text   io.Reader // of a log
}

// begun is when what is in the input began.
func (in *input) begun() time.Time {
	if in.trace != nil {
		return in.trace.SyncTime
	}
	return in.log.Time
}

// compare puts inputs into the order of time. Files of one millisecond go by their
// names: the current file of a rotated log is its last.
func (in *input) compare(other *input) int {
	archived := func(name string) bool { return formats.ArchivedFrom(name) != name }
	switch c := in.begun().Compare(other.begun()); {
	case c != 0:
		return c
	case archived(in.name) != archived(other.name):
		if archived(in.name) {
			return -1
		}
		return 1
	}
	return strings.Compare(in.name, other.name)
}

// kind is what the input is, for people.
func (in *input) kind() string {
	if in.trace != nil {
		return "a recording"
	}
	return "a log in the format " + in.log.Format
}

// A series is what the files of one log have in common.
type series struct {
	pid  int64
	name string // where the number should be known and is not: files of one name are of one process
}

func (in *input) series() (s series) {
	if in.log.Format == "" {
		return s
	}
	s.pid = in.log.ProcessID
	if f, err := formats.Find(in.log.Format); err == nil && !f.ManyProcesses() && s.pid == 0 {
		s.name = formats.ArchivedFrom(in.name)
	}
	return s
}

func (in *input) close() {
	if in.file != nil {
		_ = in.file.Close()
	}
	if in.spool != nil {
		in.spool.close()
	}
}

// goesWith tells whether an input can be read together with the ones before it.
func (in *input) goesWith(before []*input) error {
	for _, other := range before {
		switch {
		case (in.trace == nil) != (other.trace == nil), in.log.Format != other.log.Format:
			return usagef("%s is %s, %s is %s: take them one after the other", other.name, other.kind(), in.name, in.kind())
		case in.trace == nil && in.sum == other.sum:
			return usagef("%s and %s begin alike: one of them is enough", other.name, in.name)
		}
	}
	return nil
}

// begin reads the head of the recording or log.
func (in *input) begin(src io.Reader) error {
	unpacked, err := unpack.Reader(src)
	if err == nil {
		err = in.recognize(unpacked)
	}
	if err != nil {
		return &codedError{exitData, fmt.Errorf("%s: %w", in.name, err)}
	}
	return nil
}

// errNotOurs is for a text.
var errNotOurs = errors.New("it is neither a recording (.nettrace) nor a log that gclog wrote as unified (with times and [gc] lines), jdk8, json or csv")

// errEmpty is for a file with nothing in it.
var errEmpty = errors.New("it is empty")

// recognize finds out whether it is a log. What is no text is left to the reader of
// recordings, which knows more kinds of files.
func (in *input) recognize(r io.Reader) error {
	head := make([]byte, len("Nettrace"), logs.HeadSize)
	n, err := io.ReadFull(r, head)
	if n == 0 && errors.Is(err, io.EOF) {
		return errEmpty
	}
	for head = head[:n]; err == nil && isText(head); {
		grown := make([]byte, min(max(2*len(head), logs.HeadSize), maxHead))
		copy(grown, head)
		n, err = io.ReadFull(r, grown[len(head):])
		head = grown[:len(head)+n]
		if log, ok := logs.Recognize(head); ok {
			in.log, in.text, in.sum = log, io.MultiReader(bytes.NewReader(head), r), maphash.Bytes(headSeed, head)
			return nil
		}
		if len(head) == maxHead {
			break
		}
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	want := in.want
	if want == nil {
		want = gclog.Wanted
	}
	in.reader = parse.NewReader(io.MultiReader(bytes.NewReader(head), r), want)
	in.trace, err = in.reader.ReadTrace()
	if kind, ok := errors.AsType[*parse.KindError](err); ok && kind.Kind == parse.KindUnknown && isText(head) {
		return errNotOurs
	}
	return err
}

var headSeed = maphash.MakeSeed()

// maxHead is how much of a text is looked at for the first line of ours.
const maxHead = 1 << 20

// isText tells whether it may be a log: recordings have other bytes in their heads.
func isText(b []byte) bool {
	magic := []byte("Nettrace")
	return len(b) > 0 && !bytes.HasPrefix(b, magic) && !bytes.HasPrefix(magic, b) && bytes.IndexByte(b, 0) < 0
}

// rest returns the text of a log. That of a file is read anew: many files are open at
// once, and none shall keep its head.
func (in *input) rest(read *atomic.Int64) (io.Reader, error) {
	if in.text != nil {
		return in.text, nil
	}
	src, err := in.again()
	if err != nil {
		return nil, err
	}
	return unpack.Reader(&counter{src, read})
}

type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
