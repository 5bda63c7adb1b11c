package logs_test

import (
	"regexp"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
)

// workers matches the number of heaps. When a background collection starts, the events have only
// reported that of the previous one.
var workers = regexp.MustCompile(`workers=\w+|\d+ GC workers|GC workers unknown`)

// TestJSONToOthers: a log in another format is the same if converted by way of json.
func TestJSONToOthers(t *testing.T) {
	extent.Long(t)
	forEach(t, func(t *testing.T, stream []byte) {
		text, all := record(t, stream, "json", facts)
		switch {
		case text == nil:
			t.Skip("no records")
		case len(all) > 1:
			t.Skip("several processes: the formats take one")
		}
		for _, format := range []string{"unified", "jdk8", "text"} {
			t.Run(format, func(t *testing.T) {
				want, _ := record(t, stream, format, facts)
				got, _, _ := readAs(t, text, format)
				sameLines(t, workers.ReplaceAll(want, nil), workers.ReplaceAll(got, nil))
			})
		}
	})
}
