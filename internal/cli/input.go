package cli

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
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

	reader *parse.Reader // of a recording
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

func (in *input) close() {
	if in.file != nil {
		_ = in.file.Close()
	}
	if in.spool != nil {
		in.spool.close()
	}
}

func (v *conversion) openOne(name string) (*input, error) {
	in := &input{name: name}
	var src io.Reader
	seekable := false
	if name == "-" {
		if isTerminal(v.p.in) {
			return nil, usagef("standard input is a terminal: give a file, or pipe a recording into it")
		}
		in.name, src = "standard input", v.p.in
	} else {
		f, err := os.Open(name)
		if err != nil {
			if path, ok := errors.AsType[*fs.PathError](err); ok {
				err = path.Err // the name is said once
			}
			return nil, usagef("cannot read %s: %w", name, err)
		}
		in.file, src = f, f
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			return in, usagef("cannot read %s: it is a directory", name)
		}
		if seekable = err == nil && info.Mode().IsRegular(); seekable {
			in.again = func() (io.Reader, error) {
				_, err := f.Seek(0, io.SeekStart)
				return f, err
			}
		}
	}
	if !seekable {
		in.spool = &spool{r: src}
		in.again, src = in.spool.again, in.spool
	}
	if err := in.begin(&counter{src, &v.read}); err != nil {
		return in, err
	}
	if in.log.Format != "" && in.spool == nil {
		in.text = nil
		v.read.Store(0)
	}
	if in.spool != nil {
		if err := in.spool.keep(v.readsTwice(in)); err != nil {
			return in, &codedError{exitData, err}
		}
	}
	return in, nil
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
	in.reader = parse.NewReader(io.MultiReader(bytes.NewReader(head), r), gclog.Wanted)
	in.trace, err = in.reader.ReadTrace()
	if kind, ok := errors.AsType[*parse.KindError](err); ok && kind.Kind == parse.KindUnknown && isText(head) {
		return errors.New("it is neither a recording (.nettrace) nor a log of gclog in one of the formats unified, with a time and lines of gc, jdk8, json and csv")
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
