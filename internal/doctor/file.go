package doctor

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/parse"
)

// File finds out whether a file can be read, and what is missing in it. A packed file may unpack to at
// most unpacked bytes. If the file is the current one of a rotated log, all files of the log are read.
func File(name string, unpacked int64) *Report {
	r := &Report{Subject: name}
	r.file(name, unpacked)
	r.order()
	switch {
	case r.Verdict != "":
	case r.OK():
		r.Verdict = "can be read completely"
	default:
		r.Verdict = "cannot be read completely"
	}
	return r
}

func (r *Report) file(name string, unpacked int64) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		r.fail("directory", "it is a directory")
		return
	}
	var events inventory
	in, err := history.Open([]string{name}, history.Options{Want: everything, Inspect: events.take, Unpacked: unpacked})
	if call, ok := errors.AsType[*history.CallError](err); ok {
		if errors.Is(call, fs.ErrNotExist) {
			r.fail("missing", "there is no such file")
		} else {
			r.fail("unreadable", "it cannot be read: %v", call.Unwrap())
		}
		return
	}
	if info != nil {
		r.fact("size", "%s", formats.SizeText(info.Size()))
	}
	switch {
	case err != nil:
		r.unknown(err)
	case in.IsLog():
		in.Close()
		r.log(name, in.Files[0].Log, unpacked)
	default:
		defer in.Close()
		r.recording(in, &events)
	}
}

// unread adds that a file could not be read to its end. Errors of the operating system name the
// path, others are unpacking errors.
func (r *Report) unread(where string, err error) {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		r.add(Failure, "unreadable", "%scannot be read: %v", where, path.Err)
		return
	}
	if limit, ok := errors.AsType[*unpack.LimitError](err); ok {
		r.add(Failure, "unpack-limit", "%sis not read completely: %v", where, limit)
		return
	}
	r.add(Failure, "bad-packing", "%scannot be decompressed: %v", where, err)
}

// javaOnly adds that a file is a log for Java tools, if that is the error.
func (r *Report) javaOnly(where string, err error) bool {
	javaOnly, ok := errors.AsType[*logs.JavaOnlyError](err)
	if ok {
		r.add(Failure, "java-only", "%s%v", where, javaOnly)
		r.Err = javaOnly
	}
	return ok
}

// fail adds what keeps a file from being read at all.
func (r *Report) fail(id, format string, args ...any) {
	r.add(Failure, id, format, args...)
	r.Verdict = "cannot be read"
}

// javaLine matches lines that a JVM's GC log contains and ours, which were recognized before, do
// not.
var javaLine = regexp.MustCompile(`(?m)^\[[^\n]*\]\[gc[,\] ]|^(OpenJDK|Java HotSpot)|\[(Full )?GC \(|^\{Heap before GC`)

// unknown adds what a file is that is neither a recording nor a log.
func (r *Report) unknown(err error) {
	var kind *parse.KindError
	var text *history.TextError
	var packed *unpack.Error
	switch {
	case r.javaOnly("", err):
		r.Verdict = "cannot be read"
	case errors.Is(err, history.ErrEmpty):
		r.fail("empty", "it is an empty file")
	case errors.As(err, &text) && javaLine.Match(text.Head):
		r.fail("java-log", "it is a GC log of a JVM, not of gclog")
	case text != nil:
		r.fail("not-ours", "it is text, but not a log that gclog wrote as unified (with DotNet: lines), json or csv")
	case errors.As(err, &kind) && kind.Kind != parse.KindUnknown:
		r.fail(string(kind.Kind), "it is %s", kind.Found)
	case kind != nil:
		r.fail("not-ours", "it is %s", kind.Found)
	case errors.As(err, &packed):
		r.unread("it ", packed.Err)
	default:
		r.broken(errors.Unwrap(err), "")
	}
}

// broken adds where a recording becomes unreadable; before describes what could be read.
func (r *Report) broken(err error, before string) {
	format, isFormat := errors.AsType[*parse.FormatError](err)
	switch {
	case isFormat && errors.Is(err, io.ErrUnexpectedEOF) && format.Block == "" && before != "":
		r.add(Failure, "unfinished", "%v%s", err, before)
	case isFormat && errors.Is(err, io.ErrUnexpectedEOF):
		r.add(Failure, "truncated", "%v%s", err, before)
	case isFormat:
		r.add(Failure, "damaged", "%v%s", err, before)
	default:
		r.add(Failure, "unreadable", "%v%s", err, before)
	}
}
