package lists

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/output"
	"github.com/urfave/cli/v2"
)

// A Least is how many bytes a row of a list has at least: --min.
type Least struct {
	Min   uint64
	Share float64 // the same as a share of all, 0 to 1: MinOf
}

// Read reads --min, if it is given.
func (l *Least) Read(c *cli.Context) error {
	if !c.IsSet("min") {
		return nil
	}
	if err := l.parse(c.String("min")); err != nil {
		return exit.Usagef("--min: %v", err)
	}
	return nil
}

// parse parses a size, or a share.
func (l *Least) parse(text string) error {
	if number, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(percent >= 0 && percent <= 100) {
			return fmt.Errorf("%q is not a share: give a number from 0%% to 100%%, such as 1%%", text)
		}
		l.Share = percent / 100
		return nil
	}
	n, err := output.ParseBytes(text)
	l.Min = uint64(max(0, n))
	return err
}

// MinOf computes Min from the total if a Share was given.
func (l *Least) MinOf(bytes uint64) {
	if l.Share > 0 {
		l.Min = uint64(math.Ceil(l.Share * float64(bytes)))
	}
}
