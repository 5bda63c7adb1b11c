package output

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gclog/gclog/internal/rotate"
)

// How people write the fields of rotate.Options: in flags, in -Xlog, in a configuration.

// Namings are the words that ParseNaming knows.
var Namings = []string{"timestamp", "index"}

// MaxFileCount and MinFileSize are the limits of ParseFileCount and ParseSize. The minimum size, in
// bytes, keeps file headers from making up most of the files.
const (
	MaxFileCount = 1000
	MinFileSize  = 16 << 10
)

// ParseNaming parses how archived files are named.
func ParseNaming(s string) (rotate.Naming, error) {
	switch s {
	case "timestamp":
		return rotate.NameByTime, nil
	case "index":
		return rotate.NameByIndex, nil
	}
	return 0, fmt.Errorf("%s: it must be timestamp or index", s)
}

// ParseFileCount parses how many archived files are kept.
func ParseFileCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > MaxFileCount {
		return 0, fmt.Errorf("%s: it must be 0 to %d", s, MaxFileCount)
	}
	return n, nil
}

// ParseSize parses the size of a file, in bytes.
func ParseSize(s string) (int64, error) {
	n, err := ParseBytes(s)
	if err == nil && n < MinFileSize {
		err = fmt.Errorf("%q is too small: the minimum is 16K", s)
	}
	return n, err
}

// ParseBytes parses a number of bytes as HotSpot does: a number with K, M or G, each 1024 times the
// one before.
func ParseBytes(s string) (int64, error) {
	digits := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I"), "KMG")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I")[len(digits):]
	shift, ok := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30}[unit]
	if err != nil || !ok || n < 0 || n > 1<<40>>shift {
		return 0, fmt.Errorf("%q is not a size: give a number with K, M or G, such as 10M", s)
	}
	return n << shift, nil
}
