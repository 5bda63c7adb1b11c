package logs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
)

// TestIsOurs: every file that gclog writes is recognized, and no other file is, not even one that
// contains lines of ours: files are deleted on this basis.
func TestIsOurs(t *testing.T) {
	files, err := filepath.Glob("../testdata/golden/*.*")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !logs.IsOurs(b[:min(len(b), logs.BeginSize)]) {
			t.Errorf("%s is not known", file)
		}
		if logs.IsOurs(append([]byte("Seen today:\n"), b...)) {
			t.Errorf("%s is, quoted by others", file)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "an empty line": "\n", "package.json": "{\n  \"name\": \"shop\"\n}\n", "tsconfig.json": `{"compilerOptions":{}}`,
		"records that a shipper has written": `{"@timestamp":"2026-11-21T00:30:37.300Z","event":{"action":"gc","dataset":"dotnet.gc"}}` + "\n",
		"a table":                            "Number,Generation\n1,0\n",
		"a log of Java 8":                    "OpenJDK 64-Bit Server VM (25.392-b08) for linux-amd64 JRE (1.8.0_392-b08), built on Oct 17 2023\n",
		"a log of Java 11":                   "[0.010s][info][gc] Using Concurrent Mark Sweep\n[0.5s][info][gc] GC(0) Pause Young (Allocation Failure) 4M->1M(15M) 2.123ms\n",
		"a log of Java 21":                   "[0.010s][info][gc] Using G1\n",
	} {
		if logs.IsOurs([]byte(text)) {
			t.Errorf("%s is taken for ours", name)
		}
	}
}

// TestIsOursSelected: logs with few kinds of lines are recognized too.
func TestIsOursSelected(t *testing.T) {
	format, err := formats.Find("unified")
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]formats.TagSet{"gc": formats.TagGC, "gc+start": formats.TagStart, "gc+heap": formats.TagHeap} {
		s := formats.Selection{Decorators: formats.Of(formats.DecUptime, formats.DecLevel, formats.DecTags)}
		s.Levels[set] = formats.LevelInfo
		var b bytes.Buffer
		w := formats.NewWriter(format, formats.NewStream(&b, false), formats.Options{Selection: &s})
		d := gclog.GCDetails{Number: 1, Known: gclog.GroupNumber, End: 2e6}
		w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Start: 1e6, Duration: 1e6}, GC: &d})
		if !logs.IsOurs(b.Bytes()) {
			t.Errorf("a log of %s is not known:\n%s", name, strings.TrimSpace(b.String()))
		}
	}
}
