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

// ParseBytes parses a number of bytes in the notation of thresholds (docs/manual.md, check): K, M and
// G are HotSpot's, each 1024 times the one before, as Ki and KiB; KB, MB and GB are what gclog
// prints, each 1000 times the one before.
func ParseBytes(s string) (int64, error) {
	digits := strings.TrimRight(s, "BIKMGbikmg")
	n, err := strconv.ParseInt(digits, 10, 64)
	factor, ok := map[string]int64{
		"": 1, "B": 1,
		"K": 1 << 10, "KI": 1 << 10, "KIB": 1 << 10, "KB": 1e3,
		"M": 1 << 20, "MI": 1 << 20, "MIB": 1 << 20, "MB": 1e6,
		"G": 1 << 30, "GI": 1 << 30, "GIB": 1 << 30, "GB": 1e9,
	}[strings.ToUpper(s[len(digits):])]
	if err != nil || !ok || n < 0 || n > 1<<40/factor {
		return 0, fmt.Errorf("%q is not a size: give a number with K, M or G, such as 10M", s)
	}
	return n * factor, nil
}
