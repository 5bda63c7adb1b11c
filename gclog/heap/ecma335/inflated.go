package ecma335

import (
	"compress/flate"
	"io"
)

// inflated is the content of a deflated part of a file. It is unpacked while it is read, and not kept:
// reading before the last offset starts again.
type inflated struct {
	packed    *io.SectionReader
	unpacking func(bytes int64) error // is called before bytes are unpacked, and may refuse
	stream    io.Reader
	at        int64 // of stream
}

// ReadAt implements io.ReaderAt.
func (f *inflated) ReadAt(p []byte, off int64) (int, error) {
	if f.stream == nil || off < f.at {
		_, _ = f.packed.Seek(0, io.SeekStart)
		f.stream, f.at = flate.NewReader(f.packed), 0
	}
	const piece = 1 << 20
	for f.at < off {
		n := min(off-f.at, piece)
		if err := f.unpacking(n); err != nil {
			return 0, err
		}
		n, err := io.CopyN(io.Discard, f.stream, n)
		if f.at += n; err != nil {
			return 0, err
		}
	}
	if err := f.unpacking(int64(len(p))); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(f.stream, p)
	f.at += int64(n)
	return n, err
}
