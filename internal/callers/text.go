package callers

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog/stacks"
)

// ShareText is a share with its interval, for people.
func (v *View) ShareText(e stacks.Estimate) string {
	if !e.Enough() {
		return "too few to say"
	}
	share, margin := v.Profile.Share(e)
	return fmt.Sprintf("%.1f ± %.1f %%", 100*share, 100*margin)
}

// RateText is an amount per second, for people.
func RateText(bytes float64, in time.Duration) string {
	if in <= 0 {
		return "-"
	}
	return formats.SizeText(int64(PerSecond(bytes, in))) + "/s"
}

// PerSecond returns an amount per second, NaN if it took no time.
func PerSecond(bytes float64, in time.Duration) float64 {
	if in <= 0 {
		return math.NaN()
	}
	return bytes / in.Seconds()
}

// Outwards is a path in one line, from the inside out: it begins with what says most.
func Outwards(path []string) string {
	path = slices.Clone(path)
	slices.Reverse(path)
	return strings.Join(path, " ← ")
}
