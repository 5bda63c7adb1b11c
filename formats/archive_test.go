package formats

import "testing"

func TestArchivedFrom(t *testing.T) {
	for path, want := range map[string]string{
		"gc.log": "gc.log", "a/gc.log.0": "a/gc.log", "gc.log.12": "gc.log", "a/gc-2026-11-20T12-56-56.272.log": "a/gc.log",
		"gc-2026-11-20.log": "gc-2026-11-20.log", "gc": "gc", "gc.log.x": "gc.log.x",
		"gc-2026-11-20T12-56-56.272": "gc", "": "",
	} {
		if got := ArchivedFrom(path); got != want {
			t.Errorf("%s was %s, want %s", path, got, want)
		}
	}
}
