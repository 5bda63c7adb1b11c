package spelling

import "testing"

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
