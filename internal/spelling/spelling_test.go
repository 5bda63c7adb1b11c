package spelling

import (
	"slices"
	"strings"
	"testing"
)

func TestDidYouMean(t *testing.T) {
	names := []string{"filecount", "filesize", "path", "only"}
	for typed, want := range map[string]string{
		"filecout":   ", did you mean filecount?",
		"fileszie":   ", did you mean filesize?",
		"pth":        ", did you mean path?",
		"nothing":    "",
		"o":          "",
		"":           "",
		"filecountt": ", did you mean filecount?",
	} {
		if got := DidYouMean(typed, names); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	names := []string{"OrderService", "Orders", "dotnet", "BillingWorker", strings.Repeat("x", 1<<20)}
	for typed, want := range map[string][]string{
		"orders":       {"Orders", "OrderService"},
		"Ordres":       {"Orders"},
		"order":        {"Orders", "OrderService"},
		"WORKER":       {"BillingWorker"},
		"dotnte":       {"dotnet"},
		"OrderServise": {"OrderService"},
		"nothing":      nil,
		"":             nil,
	} {
		if got := Near(typed, names); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}
