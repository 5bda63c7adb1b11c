// Package unpack reads files that may be packed: recordings and logs are kept as gzip
// or zstd as often as not.
package unpack

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Reader undoes gzip and zstd, told by their first bytes. What is not packed is read
// as it is.
func Reader(r io.Reader) (io.Reader, error) {
	var head [4]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	whole := io.MultiReader(bytes.NewReader(head[:n]), r)
	switch {
	case bytes.HasPrefix(head[:n], []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bufio.NewReaderSize(whole, 64<<10))
		if err != nil {
			return nil, fmt.Errorf("unpacking gzip: %w", err)
		}
		return z, nil
	case bytes.Equal(head[:n], []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(whole, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("unpacking zstd: %w", err)
		}
		return &zstdReader{z}, nil
	}
	return whole, nil
}

// maxWindow is how far back a zstd file may refer: what zstd -19 makes.
const maxWindow = 8 << 20

// A zstdReader explains the one error of unpacking that has a way out.
type zstdReader struct{ z *zstd.Decoder }

func (r *zstdReader) Read(p []byte) (int, error) {
	n, err := r.z.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errors.New("it was packed with --long or --ultra, which needs more than 8 MB to unpack: unpack it with zstd -d --long=31 first")
	}
	return n, err
}
