package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/urfave/cli/v2"
)

// How much is read of a packed file: a small one may contain terabytes.

// unpackFlag is a flag of all commands that read files.
func unpackFlag() cli.Flag {
	return &cli.StringFlag{
		Name: unpack.Flag, Usage: "read up to `SIZE` (K, M, G) of what a .gz or .zst file contains",
		DefaultText: fmt.Sprintf("%s of a snapshot or for a report, else %s", limitText(unpack.LimitKept), limitText(unpack.LimitPassed)),
	}
}

func limitText(n int64) string { return fmt.Sprintf("%dG", n>>30) }

func (p *program) readMaxUnpacked(c *cli.Context) error {
	if !c.IsSet(unpack.Flag) {
		return nil
	}
	n, err := output.ParseBytes(c.String(unpack.Flag))
	if err == nil && n == 0 {
		err = errors.New("it must be more than 0")
	}
	if err != nil {
		return usagef("--%s: %w", unpack.Flag, err)
	}
	p.maxUnpacked = n
	return nil
}

// unpacked returns how many bytes a packed file may unpack to.
func (p *program) unpacked(byDefault int64) int64 { return cmp.Or(p.maxUnpacked, byDefault) }

// memoryOfUnpacked is how much memory a snapshot may take, as a multiple of the limit of its size. Those
// of real programs take two or three times their size.
const memoryOfUnpacked = 4

// snapshotMemory returns how much memory a snapshot may take: as much as it needs if its size is known.
func (p *program) snapshotMemory(r heapInput) int64 {
	if r.Len() >= 0 {
		return math.MaxInt64
	}
	return memoryOfUnpacked * p.unpacked(unpack.LimitKept)
}

// tooLarge returns an error of reading a snapshot, or one that says how to raise the limit that it has
// exceeded.
func tooLarge(err error, memory int64) error {
	if errors.Is(err, heap.ErrTooLarge) {
		return fmt.Errorf("it needs more than %s of memory: --%s SIZE lets it have %d times SIZE, and a file that is not packed has no limit", formats.SizeText(memory), unpack.Flag, memoryOfUnpacked)
	}
	return err
}
