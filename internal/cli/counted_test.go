package cli

import (
	"regexp"
	"testing"
)

func TestSummaryOfOne(t *testing.T) {
	log := convertTo(t, "a.json", trace("net10-datas-bgc"))
	cutOut(t, log, "3")
	text, _, _ := run("summary", log)
	if !regexp.MustCompile(`(?m)^  missing +1 GC, 0 events, 0 records$`).MatchString(text) {
		t.Error(text)
	}
}
