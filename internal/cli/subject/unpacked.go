package subject

import (
	"cmp"
	"errors"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/urfave/cli/v2"
)

// How much is read of a packed file: a small one may contain terabytes.

// ReadLimit reads the flag of Unpack.
func ReadLimit(p *program.Run, c *cli.Context) error {
	if !c.IsSet(unpack.Flag) {
		return nil
	}
	n, err := output.ParseBytes(c.String(unpack.Flag))
	if err == nil && n == 0 {
		err = errors.New("it must be more than 0")
	}
	if err != nil {
		return exit.Usagef("--%s: %w", unpack.Flag, err)
	}
	p.MaxUnpacked = n
	return nil
}

// Limit returns how many bytes a packed file may unpack to.
func Limit(p *program.Run, byDefault int64) int64 { return cmp.Or(p.MaxUnpacked, byDefault) }
