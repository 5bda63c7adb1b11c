package doctor

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/parse"
)

// File finds out whether a file can be read, and what is missing in it. Of a log that
// has been rotated it reads all files if it is given the current one.
func File(name string) *Report {
	r := &Report{Subject: name}
	r.file(name)
	r.order()
	switch {
	case r.Verdict != "":
	case r.OK():
		r.Verdict = "can be read wholly"
	default:
		r.Verdict = "cannot be read wholly"
	}
	return r
}

func (r *Report) file(name string) {
	f, err := os.Open(name)
	if err != nil {
		r.unreadable(err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		r.unreadable(err)
		return
	}
	if info.IsDir() {
		r.fail("directory", "it is a directory")
		return
	}
	r.fact("size", "%s", output.SizeText(info.Size()))
	head, err := headOf(f)
	if err != nil {
		r.unread("it ", err)
		return
	}
	if isText(head) {
		if h, ok := logs.Recognize(head); ok {
			r.log(name, h)
			return
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		r.unreadable(err)
		return
	}
	src, err := unpack.Reader(f)
	if err != nil {
		r.unread("it ", err)
		return
	}
	r.recording(&unpacked{src: src}, head, info.Size())
}

// maxHead is how much of a text is looked at for the first line of ours.
const maxHead = 1 << 20

// headOf reads the begin of a file, unpacked.
func headOf(f io.Reader) ([]byte, error) {
	src, err := unpack.Reader(f)
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(src, maxHead))
	if len(head) > 0 {
		return head, nil // what is wrong behind it is told when all is read
	}
	return nil, err
}

// An unpacked remembers an error of reading, which is none of the stream in it.
type unpacked struct {
	src io.Reader
	err error
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.src.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		u.err = err
	}
	return n, err
}

func (r *Report) unreadable(err error) {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the name is said once
	}
	if errors.Is(err, fs.ErrNotExist) {
		r.fail("missing", "there is no such file")
		return
	}
	r.fail("unreadable", "it cannot be read: %v", err)
}

// unread adds that a file could not be read to its end. Errors of the operating system
// name the path, others are those of unpacking.
func (r *Report) unread(where string, err error) {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		r.add(Failure, "unreadable", "%scannot be read: %v", where, path.Err)
		return
	}
	r.add(Failure, "bad-packing", "%scannot be unpacked: %v", where, err)
}

// fail adds what keeps a file from being read at all.
func (r *Report) fail(id, format string, args ...any) {
	r.add(Failure, id, format, args...)
	r.Verdict = "cannot be read"
}

// javaLine is what lines of a JVM's GC log have and ours, which are recognized, are not.
var javaLine = regexp.MustCompile(`(?m)^\[[^\n]*\]\[gc[,\] ]|^(OpenJDK|Java HotSpot)|\[(Full )?GC \(|^\{Heap before GC`)

// notRecording tells what a file is that is neither recording nor log.
func (r *Report) notRecording(kind *parse.KindError, head []byte) {
	switch {
	case kind.Kind != parse.KindUnknown:
		r.fail(string(kind.Kind), "it is %s", kind.Found)
	case javaLine.Match(head):
		r.fail("java-log", "it is a GC log of a JVM, not of gclog")
	case isText(head):
		r.fail("not-ours", "it is text, but not a log that gclog wrote as unified (with times and [gc] lines), jdk8, json or csv")
	default:
		r.fail("not-ours", "it is %s", kind.Found)
	}
}

// isText tells a text from a recording, which may hold lines of a log in its strings.
func isText(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 4096)], 0) < 0 }
