package main

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTry checks which changes the tests of a package notice, and which they do not.
func TestTry(t *testing.T) {
	t.Chdir("testdata/fixture")
	changes, err := changesOf("p")
	if err != nil {
		t.Fatal(err)
	}
	// A loop without an end is stopped by its CPU time, whatever else the machine does.
	o := options{longest: time.Hour, patience: time.Hour, cpu: time.Second, known: []known{{place: "p Same", what: "n > 8 → *"}, {place: "p Same", what: "n = 8 → *"}}}
	var out strings.Builder
	got, err := try(t.Context(), &out, subject{pkg: "p", tests: []string{"p"}}, changes, o)
	if err != nil {
		t.Fatal(err)
	}
	want := `survived: p/p.go:11:35: p Loose: n > 5 → n >= 5
survived: p/p.go:11:37: p Loose: n > 5 → n > 4
survived: p/p.go:11:37: p Loose: n > 5 → n > 6
survived: p/p.go:14:38: p Untested: !on → on (no test runs it)
survived: p/p.go:26:11: p Sum: i := 0 → i := 1
`
	lines := slices.Sorted(strings.Lines(out.String()))
	if got := strings.Join(lines, ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if want := (result{noticed: 9, survived: 5, uncovered: 1, known: 7, broken: 6}); got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestKnown: the list contains only changes that exist, so that no entry outlives its code.
func TestKnown(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other files are built on " + runtime.GOOS)
	}
	t.Chdir("../..")
	list, err := readKnown(knownFile)
	if err != nil {
		t.Fatal(err)
	}
	var all []change
	for _, s := range subjects {
		changes, err := changesOf(s.pkg)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, changes...)
	}
	for _, k := range list {
		if !slices.ContainsFunc(all, k.is) {
			t.Errorf("%s:%d: there is no such change: %s: %s", knownFile, k.line, k.place, k.what)
		}
	}
}

// TestReasons: each change in the list must have a reason.
func TestReasons(t *testing.T) {
	for content, ok := range map[string]bool{
		"p F: a → b\n\tbecause\n":                    true,
		"p F: a → b\np F: b → c\n\tof both\n":        true,
		"# a comment\n\np F: a → b\n":                false,
		"p F: a → b\n\tbecause\np F: b → c\n":        false,
		"p F: a → b\n\tbecause\nno colon\n\tfalse\n": false,
	} {
		name := t.TempDir() + "/known"
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readKnown(name); (err == nil) != ok {
			t.Errorf("%q: %v", content, err)
		}
	}
}
