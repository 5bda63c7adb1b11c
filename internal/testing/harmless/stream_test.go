package harmless

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A walker reads a nettrace stream (V4) object by object and accepts only a complete one: the
// header once, objects, and the end tag as the last byte.
type walker struct {
	r    *bufio.Reader
	read int64
}

const (
	streamMagic  = "Nettrace"
	streamFormat = "!FastSerialization.1"

	tagNull  = 1
	tagBegin = 5
	tagEnd   = 6

	// maxText and maxBlock are more than any runtime writes.
	maxText  = 100
	maxBlock = 1 << 20
)

func newWalker(r io.Reader) *walker { return &walker{r: bufio.NewReader(r)} }

// walk reads the whole stream and calls started after its first object.
func (w *walker) walk(started func()) error {
	if magic, err := w.text(len(streamMagic)); err != nil || magic != streamMagic {
		return fmt.Errorf("the stream begins with %q instead of %s: %w", magic, streamMagic, err)
	}
	if format, err := w.sizedText(); err != nil || format != streamFormat {
		return fmt.Errorf("the stream has the format %q: %w", format, err)
	}
	for {
		switch tag, err := w.byte(); {
		case err != nil:
			return fmt.Errorf("the stream lacks its end tag: %w", err)
		case tag == tagNull:
			if n, err := io.Copy(io.Discard, w.r); n != 0 || err != nil {
				return fmt.Errorf("%d bytes after the end tag: %w", n, err)
			}
			return nil
		case tag != tagBegin:
			return fmt.Errorf("byte 0x%02x at %d, where an object or the end was expected", tag, w.read-1)
		}
		if err := w.object(); err != nil {
			return fmt.Errorf("an object before byte %d: %w", w.read, err)
		}
		started()
	}
}

// object reads the rest of an object after its first tag.
func (w *walker) object() error {
	const (
		versions  = 8
		traceSize = 48
	)
	if err := w.expect(tagBegin, tagNull); err != nil {
		return err
	}
	if _, err := w.text(versions); err != nil {
		return err
	}
	name, err := w.sizedText()
	if err != nil {
		return err
	}
	if err := w.expect(tagEnd); err != nil {
		return err
	}
	size := int64(traceSize)
	switch name {
	case "Trace":
	case "EventBlock", "MetadataBlock", "StackBlock", "SPBlock":
		if size, err = w.size(maxBlock); err != nil {
			return err
		}
		size += -w.read & 3 // blocks are aligned
	default:
		return fmt.Errorf("it is called %q", name)
	}
	n, err := io.CopyN(io.Discard, w.r, size)
	w.read += n
	if err != nil {
		return err
	}
	return w.expect(tagEnd)
}

func (w *walker) expect(tags ...byte) error {
	for _, want := range tags {
		if got, err := w.byte(); err != nil || got != want {
			return fmt.Errorf("tag %d instead of %d at %d: %w", got, want, w.read-1, err)
		}
	}
	return nil
}

func (w *walker) byte() (byte, error) {
	b, err := w.r.ReadByte()
	if err == nil {
		w.read++
	}
	return b, err
}

func (w *walker) text(n int) (string, error) {
	b := make([]byte, n)
	got, err := io.ReadFull(w.r, b)
	w.read += int64(got)
	return string(b[:got]), err
}

func (w *walker) sizedText() (string, error) {
	n, err := w.size(maxText)
	if err != nil {
		return "", err
	}
	return w.text(int(n))
}

func (w *walker) size(most uint32) (int64, error) {
	b, err := w.text(4)
	if err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32([]byte(b))
	if n > most {
		return 0, fmt.Errorf("a size of %d at %d, at most %d was expected", n, w.read-4, most)
	}
	return int64(n), nil
}

// TestWalker: a complete stream is accepted; a truncated one or one with two headers is not.
func TestWalker(t *testing.T) {
	object := func(name, payload string) string {
		return "\x05\x05\x01\x04\x00\x00\x00\x04\x00\x00\x00" + string(rune(len(name))) + "\x00\x00\x00" + name + "\x06" + payload + "\x06"
	}
	head := "Nettrace\x14\x00\x00\x00!FastSerialization.1" + object("Trace", strings.Repeat("x", 48))
	block := object("SPBlock", "\x05\x00\x00\x00"+"\x00\x00\x00"+"12345") // at 118, so 3 bytes align it
	whole := head + block + "\x01"
	for _, c := range []struct {
		stream, want string
	}{
		{whole, ""},
		{head + "\x01", ""},
		{whole[:len(whole)-1], "lacks its end tag"},
		{whole[:len(whole)-4], "an object before"},
		{whole + "x", "after the end tag"},
		{head + head, "byte 0x4e"},
		{head + object("Foreign", ""), `called "Foreign"`},
		{"", "begins with"},
	} {
		err := newWalker(strings.NewReader(c.stream)).walk(func() {})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d bytes: %v, want %q", len(c.stream), err, c.want)
		}
	}
	if err := newWalker(io.MultiReader(bytes.NewReader([]byte(head)), failing{})).walk(func() {}); !errors.Is(err, errFailing) {
		t.Errorf("an error of the connection is reported as %v", err)
	}
}

type failing struct{}

var errFailing = errors.New("the connection failed")

func (failing) Read([]byte) (int, error) { return 0, errFailing }
