package jsontext_test

import (
	"testing"

	"github.com/gclog/gclog/internal/jsontext"
)

func TestLength(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `"`: 0, `"a`: 0, `""`: 2, `"a"`: 3, `"a":1`: 3, `"a\"`: 0, `"a\""`: 5, `"a\\"`: 5, `"a\\\"`: 0, `"\\\\" "`: 6,
	} {
		if got := jsontext.Length([]byte(text)); got != want {
			t.Errorf("%s is %d long, want %d", text, got, want)
		}
	}
}
