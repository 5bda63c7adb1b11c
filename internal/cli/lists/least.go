package lists

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gclog/gclog/internal/output"
)

// A Least is how many bytes a row of a list has at least: --min.
type Least struct {
	Min   uint64
	Share float64 // the same as a share of all, 0 to 1: MinOf
}

// Read reads a size, or a share.
func (l *Least) Read(text string) error {
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

// MinOf sets the least bytes to list if they are a share of what there is.
func (l *Least) MinOf(bytes uint64) {
	if l.Share > 0 {
		l.Min = uint64(math.Ceil(l.Share * float64(bytes)))
	}
}
