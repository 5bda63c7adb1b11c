package subject

import (
	"sync/atomic"

	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/unpack"
)

// ReadStacks adds a recording to a profile; - is standard input. After a *parse.FormatError, the profile has what
// precedes the damage.
func ReadStacks(p *program.Run, b *stacks.Builder, name string) error {
	src, err := OpenInput(p, name, "a recording")
	if err != nil {
		return err
	}
	defer src.Close()
	var read atomic.Int64
	content, err := unpack.Reader(src, &read, Limit(p, unpack.LimitPassed))
	if err == nil {
		err = b.Read(content)
	}
	if err != nil {
		return exit.Dataf("%s: %w", InputName(name), err)
	}
	return nil
}
