package subject

import (
	"bufio"
	"sync/atomic"

	"github.com/gclog/gclog/formats/logs"
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
		buffered := bufio.NewReaderSize(content, logs.HeadSize)
		head, _ := buffered.Peek(logs.HeadSize) // Read reports what is wrong
		if _, ok := logs.Recognize(head); ok {
			return exit.Dataf(
				"%s is a log, which has no call stacks: record the process with gclog record PID --stacks",
				InputName(name))
		}
		err = b.Read(buffered)
	}
	if err != nil {
		return exit.Dataf("%s: %w", InputName(name), err)
	}
	return nil
}
