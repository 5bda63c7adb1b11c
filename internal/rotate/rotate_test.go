package rotate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/testing/extent"
)

// helperEnv makes a test run this binary again as a helper: see faulty, limited and rights.
const helperEnv = "GCLOG_TEST_HELPER"

func TestMain(m *testing.M) {
	switch kind, args, _ := strings.Cut(os.Getenv(helperEnv), " "); kind {
	case "faulty":
		faulty(strings.Fields(args))
	case "limited":
		limited(args)
	case "rights":
		rights()
	default:
		os.Exit(m.Run())
	}
}

// recordSize is the length of a record, headSize that of a header.
const (
	recordSize = 100
	headSize   = 10
)

// record returns a group of one line.
func record(n int) []byte {
	return fmt.Appendf(nil, "record %06d %s\n", n, strings.Repeat("x", recordSize-len("record 000000 \n")))
}

func head(dst []byte, number int) []byte { return fmt.Appendf(dst, "head %04d\n", number) }

var (
	wholeRecord = regexp.MustCompile(`^record (\d{6}) x{85}$`)
	wholeHead   = regexp.MustCompile(`^head (\d{4})$`)
)

// A headed is a file with the header of its only Writer.
type headed struct {
	*File
	head formats.Head
}

func (h *headed) Write(group []byte, hold bool) error {
	return h.File.Write(h.head, group, hold)
}

// open opens a file whose headers are written together with the first group.
func open(t testing.TB, path string, o Options) *headed {
	t.Helper()
	return openFrom(t, &Files{}, path, o)
}

func openFrom(t testing.TB, files *Files, path string, o Options) *headed {
	t.Helper()
	f, err := files.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	r := &headed{f, formats.Head{Append: head, Joined: true}}
	return r
}

// write writes the records from..to-1.
func write(t testing.TB, r *headed, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := r.Write(record(n), false); err != nil {
			t.Fatalf("record %d: %v", n, err)
		}
	}
}

func closeFile(t testing.TB, r *headed) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// content returns the contents of the files in a folder, by name.
func content(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

// names returns the names of the files in a folder in alphabetical order, the one without a number
// or time last.
func names(files map[string]string) (list []string) {
	for name := range files {
		if name != "gc.log" {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	if _, there := files["gc.log"]; there {
		list = append(list, "gc.log")
	}
	return list
}

// numbers returns the numbers of the records in a file, and checks that it starts with its header
// and consists of whole lines.
func numbers(t testing.TB, name, text string) (list []int) {
	t.Helper()
	if text == "" {
		return nil
	}
	if !strings.HasSuffix(text, "\n") {
		t.Errorf("%s ends inside a line", name)
	}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		m := wholeRecord.FindStringSubmatch(line)
		switch {
		case m != nil && i > 0:
			n, _ := strconv.Atoi(m[1])
			list = append(list, n)
		case i == 0 && wholeHead.MatchString(line):
		default:
			t.Errorf("%s line %d is neither a head at the begin nor a record: %q", name, i+1, line)
		}
	}
	return list
}

// all returns the numbers of the records in all files of a folder, oldest file first.
func all(t testing.TB, dir string) (list []int) {
	t.Helper()
	files := content(t, dir)
	for _, name := range names(files) {
		list = append(list, numbers(t, name, files[name])...)
	}
	return list
}

// wantRecords checks that all records are there, once and in order.
func wantRecords(t testing.TB, got []int, from, to int) {
	t.Helper()
	if len(got) != to-from {
		t.Errorf("%d records, want %d", len(got), to-from)
	}
	for i, n := range got {
		if n != from+i {
			t.Errorf("record %d is at the place of %d", n, from+i)
			return
		}
	}
}

// bothNamings runs a test for each naming.
func bothNamings(t *testing.T, run func(t *testing.T, naming Naming)) {
	t.Run("time", func(t *testing.T) { run(t, NameByTime) })
	t.Run("index", func(t *testing.T) { run(t, NameByIndex) })
}

// perFile returns the size of a file with this number of records.
func perFile(records int) int64 { return int64(headSize + records*recordSize) }

func TestExistingFileIsArchived(t *testing.T) {
	for _, count := range []int{0, 5} {
		bothNamings(t, func(t *testing.T, naming Naming) {
			dir := t.TempDir()
			path := filepath.Join(dir, "gc.log")
			for _, old := range []string{"of a first run\n", "of a second run\n"} {
				if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
					t.Fatal(err)
				}
				r := open(t, path, Options{Count: count, Size: 1 << 20, Naming: naming})
				if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("it is there before the first group: %v", err)
				}
				closeFile(t, r) // no record was written: no file
				if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a file without a record: %v", err)
				}
			}
			r := open(t, path, Options{Count: count, Size: 1 << 20, Naming: naming})
			write(t, r, 0, 2)
			closeFile(t, r)
			files := content(t, dir)
			list := names(files)
			if len(list) != 3 || files[list[0]] != "of a first run\n" || files[list[1]] != "of a second run\n" {
				t.Fatalf("the old files: %q", files)
			}
			wantRecords(t, numbers(t, "gc.log", files["gc.log"]), 0, 2)
		})
	}
}

func TestMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes on Windows")
	}
	for mode, want := range map[fs.FileMode]fs.FileMode{0: 0o640, 0o600: 0o600, 0o644: 0o644} {
		dir := t.TempDir()
		r := open(t, filepath.Join(dir, "gc.log"), Options{Count: 10, Size: perFile(1), Mode: mode})
		write(t, r, 0, 3)
		closeFile(t, r)
		for name := range content(t, dir) {
			got, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if want &= umasked(t); got.Mode() != want {
				t.Errorf("%s has the mode %v, want %v", name, got.Mode(), want)
			}
		}
	}
}

// TestFolderMode: folders created for a file are open to its owner and group only.
func TestFolderMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes on Windows")
	}
	dir := t.TempDir()
	r := open(t, filepath.Join(dir, "a", "b", "gc.log"), Options{MakeDirs: true})
	write(t, r, 0, 1)
	closeFile(t, r)
	for _, made := range []string{"a", "a/b"} {
		info, err := os.Stat(filepath.Join(dir, made))
		if err != nil {
			t.Fatal(err)
		}
		if want := 0o750 & umasked(t); info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v", made, info.Mode(), want)
		}
	}
}

// umasked returns what the umask leaves of 0777.
var umasked = func() func(t *testing.T) fs.FileMode {
	var once sync.Once
	var mode fs.FileMode
	return func(t *testing.T) fs.FileMode {
		once.Do(func() {
			f, err := os.OpenFile(filepath.Join(t.TempDir(), "probe"), os.O_CREATE|os.O_WRONLY, 0o777)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			mode = info.Mode()
		})
		return mode
	}
}()

// TestNamesNeverCollide: with many files in one millisecond, and while the clock goes backwards, no
// file is overwritten, and the order of the names is that of the files.
func TestNamesNeverCollide(t *testing.T) {
	files := extent.Pick(100, 300)
	if testing.Short() {
		files = 60
	}
	base := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, now := range map[string]func(n int) time.Time{
		"real":    func(int) time.Time { return time.Now() },
		"stopped": func(int) time.Time { return base },
		"back":    func(n int) time.Time { return base.Add(-time.Duration(n) * time.Minute) },
		"jumps":   func(n int) time.Time { return base.Add(time.Duration(n%7-3) * time.Hour) },
		"zones":   func(n int) time.Time { return base.In(time.FixedZone("", (n%5)*3600)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, filepath.Join(dir, "gc.log"), Options{Count: 1000, Size: perFile(1)})
			n := 0
			r.now = func() time.Time { return now(n) }
			for ; n < files; n++ {
				write(t, r, n, n+1)
			}
			closeFile(t, r)
			if got := len(content(t, dir)); got != files {
				t.Errorf("%d files, want %d", got, files)
			}
			wantRecords(t, all(t, dir), 0, files)
		})
	}
}

// TestIndexNames: as with HotSpot, the indexes wrap around, and are as wide as the largest one.
func TestIndexNames(t *testing.T) {
	for _, c := range []struct {
		count, files int
		want         map[string]int // the record in each file
	}{
		{1, 3, map[string]int{"gc.log.0": 1, "gc.log": 2}},
		{3, 3, map[string]int{"gc.log.0": 0, "gc.log.1": 1, "gc.log": 2}},
		{3, 6, map[string]int{"gc.log.0": 3, "gc.log.1": 4, "gc.log.2": 2, "gc.log": 5}},
		{10, 3, map[string]int{"gc.log.0": 0, "gc.log.1": 1, "gc.log": 2}},
		{11, 3, map[string]int{"gc.log.00": 0, "gc.log.01": 1, "gc.log": 2}},
		{1000, 3, map[string]int{"gc.log.000": 0, "gc.log.001": 1, "gc.log": 2}},
	} {
		t.Run(fmt.Sprint(c.count, " of ", c.files), func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, filepath.Join(dir, "gc.log"), Options{Count: c.count, Size: perFile(1), Naming: NameByIndex})
			write(t, r, 0, c.files)
			closeFile(t, r)
			files := content(t, dir)
			for name, text := range files {
				list := numbers(t, name, text)
				if want, there := c.want[name]; !there || len(list) != 1 || list[0] != want {
					t.Errorf("%s has the records %v", name, list)
				}
			}
			if len(files) != len(c.want) {
				t.Errorf("the files are %v", names(files))
			}
		})
	}
}

// TestIndexWithoutRotation: an existing file is renamed to an unused name, and nothing is replaced
// for it.
func TestIndexWithoutRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gc.log")
	for n := range 3 {
		r := open(t, path, Options{Naming: NameByIndex})
		write(t, r, n, n+1)
		closeFile(t, r)
	}
	files := content(t, dir)
	for n, name := range []string{"gc.log.0", "gc.log.1", "gc.log"} {
		wantRecords(t, numbers(t, name, files[name]), n, n+1)
	}
	for i := range 997 {
		if err := os.WriteFile(fmt.Sprint(path, ".", i+2), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	closeFile(t, open(t, path, Options{Naming: NameByIndex})) // uses the last unused name
	if err := os.Rename(path+".1", path); err != nil {
		t.Fatal(err)
	}
	closeFile(t, open(t, path, Options{Naming: NameByIndex})) // and one that became unused again
	if err := os.WriteFile(path, []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := (&Files{}).Open(path, Options{Naming: NameByIndex})
	if err == nil || !strings.Contains(err.Error(), "no free name for the archived file: gc.log.999 exists") {
		t.Errorf("all names are in use: %v", err)
	}
	files = content(t, dir)
	wantRecords(t, numbers(t, "gc.log.0", files["gc.log.0"]), 0, 1)
	wantRecords(t, numbers(t, "gc.log.1", files["gc.log.1"]), 1, 2)
	wantRecords(t, numbers(t, "gc.log.999", files["gc.log.999"]), 2, 3)
	if len(files) != 1001 || files["gc.log"] != "left" {
		t.Errorf("there are %d files, and the last one is %q", len(files), files["gc.log"])
	}
}

// TestIndexAtStart: the next run starts with an unused name or, if there is none, with the oldest
// one, and continues from there.
func TestIndexAtStart(t *testing.T) {
	setup := func(t *testing.T, ages map[string]int) (dir string) {
		dir = t.TempDir()
		for name, hours := range ages {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
				t.Fatal(err)
			}
			old := time.Now().Add(-time.Duration(hours) * time.Hour)
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
		r := open(t, filepath.Join(dir, "gc.log"), Options{Count: 3, Size: perFile(1), Naming: NameByIndex})
		write(t, r, 0, 2)
		closeFile(t, r)
		return dir
	}
	files := content(t, setup(t, map[string]int{"gc.log.0": 5, "gc.log.2": 9, "gc.log": 1}))
	if files["gc.log.0"] != "gc.log.0" || files["gc.log.1"] != "gc.log" || len(numbers(t, "gc.log.2", files["gc.log.2"])) != 1 {
		t.Errorf("a free name: %q", files)
	}
	files = content(t, setup(t, map[string]int{"gc.log.0": 5, "gc.log.1": 9, "gc.log.2": 7, "gc.log": 1}))
	if files["gc.log.0"] != "gc.log.0" || files["gc.log.1"] != "gc.log" || len(numbers(t, "gc.log.2", files["gc.log.2"])) != 1 {
		t.Errorf("the oldest name: %q", files)
	}
}

// TestIndexAfterFailure: a name that could not be used once is still the next one; otherwise a
// newer file would be replaced before an older one.
func TestIndexAfterFailure(t *testing.T) {
	dir := t.TempDir()
	r := open(t, filepath.Join(dir, "gc.log"), Options{Count: 3, Size: perFile(1), Naming: NameByIndex})
	write(t, r, 0, 5) // gc.log.0 has record 3, gc.log.1 is the oldest
	aside, oldest := filepath.Join(dir, "aside"), filepath.Join(dir, "gc.log.1")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Rename(oldest, aside))
	must(os.MkdirAll(filepath.Join(oldest, "blocked"), 0o700)) // as on Windows, while another process reads it
	write(t, r, 5, 6)
	must(os.RemoveAll(oldest))
	must(os.Rename(aside, oldest))
	write(t, r, 6, 7)
	closeFile(t, r)
	got := all(t, dir)
	slices.Sort(got)
	if want := []int{2, 3, 4, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("the records are %v, want the newest %v", got, want)
	}
}

// TestPrune: the latest Count files are kept, and files of others are left alone, however the path
// is written.
func TestPrune(t *testing.T) {
	for _, c := range []struct{ name, path string }{
		{"absolute", ""},
		{"name only", "gc.log"},
		{"dot", "./gc.log"},
		{"dots", "sub/../gc.log"},
		{"two slashes", "sub//gc.log"},
		{"no extension", "gc"},
		{"two extensions", "gc.app.log"},
		{"hidden", ".gclog"},
		{"pattern", "gc[1]*?.log"},
		{"pattern in the folder", "a[b-c]*/gc.log"},
		{"blank", "my gc.log"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.ContainsAny(c.path, "*?") {
				t.Skip("Windows has no such names")
			}
			dir := t.TempDir()
			t.Chdir(dir)
			path := c.path
			if path == "" {
				path = filepath.Join(dir, "gc.log")
			}
			folder := filepath.Dir(path)
			for _, d := range []string{"sub", folder} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			ext := filepath.Ext(path)
			stem := strings.TrimSuffix(filepath.Base(path), ext)
			others := []string{
				stem + "-2026" + ext, stem + "-app-2026-11-20T12-56-56.272" + ext, stem + "-2026-11-20T12-56-56.272" + ext + ".gz",
				"x" + stem + "-2026-11-20T12-56-56.272" + ext, stem + "-2026-13-45T12-56-56.272" + ext,
			}
			for _, name := range others {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := open(t, path, Options{Count: 2, Size: perFile(1)})
			for n := range 10 {
				write(t, r, n, n+1)
				if got, want := len(content(t, folder))-len(others), min(n+1, 3); got != want {
					t.Fatalf("%d files after %d, want %d: %v", got, n+1, want, names(content(t, folder)))
				}
			}
			closeFile(t, r)
			files := content(t, folder)
			for _, name := range others {
				if files[name] != name {
					t.Errorf("%s is gone or changed", name)
				}
				delete(files, name)
			}
			var got []int
			for name, text := range files {
				got = append(got, numbers(t, name, text)...)
			}
			slices.Sort(got)
			if want := []int{7, 8, 9}; !slices.Equal(got, want) {
				t.Errorf("the records are %v, want %v", got, want)
			}
		})
	}
}

// TestCountZero: without rotation there is only one file.
func TestCountZero(t *testing.T) {
	bothNamings(t, func(t *testing.T, naming Naming) {
		dir := t.TempDir()
		r := open(t, filepath.Join(dir, "gc.log"), Options{Size: perFile(1), Naming: naming})
		write(t, r, 0, 50)
		closeFile(t, r)
		files := content(t, dir)
		if len(files) != 1 {
			t.Errorf("the files are %v", names(files))
		}
		wantRecords(t, numbers(t, "gc.log", files["gc.log"]), 0, 50)
	})
}

// TestHeads: every file starts with its own header, joined to the first group or not, and contains
// a record.
func TestHeads(t *testing.T) {
	for name, joined := range map[string]bool{"joined": true, "separate": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f, err := (&Files{}).Open(filepath.Join(dir, "gc.log"), Options{Count: 100, Size: perFile(2)})
			if err != nil {
				t.Fatal(err)
			}
			r := &headed{f, formats.Head{Append: head, Joined: joined}}
			write(t, r, 0, 20)
			closeFile(t, r)
			files := content(t, dir)
			for i, name := range names(files) {
				if want := string(head(nil, i+1)); !strings.HasPrefix(files[name], want) {
					t.Errorf("%s begins with %.20q, want %q", name, files[name], want)
				}
				if len(numbers(t, name, files[name])) != 2 {
					t.Errorf("%s has %d records, want 2", name, len(numbers(t, name, files[name])))
				}
			}
			if r.Bytes() != int64(10*headSize+20*recordSize) {
				t.Errorf("%d bytes", r.Bytes())
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, filepath.Join(dir, "gc.log"), Options{Count: 100, Size: 2 * recordSize})
		r.head.Append = func(dst []byte, _ int) []byte { return dst }
		write(t, r, 0, 4)
		closeFile(t, r)
		files := content(t, dir)
		for i, name := range names(files) {
			if want := string(record(2*i)) + string(record(2*i+1)); files[name] != want {
				t.Errorf("%s is %q", name, files[name])
			}
		}
	})
}

// TestGroupsAreWhole: groups of any length, even longer than a file may be, are never split, and no
// file is larger than Size unless a single group is.
func TestGroupsAreWhole(t *testing.T) {
	for _, buffered := range []bool{false, true} {
		bothNamings(t, func(t *testing.T, naming Naming) {
			const size = 5000
			dir := t.TempDir()
			r := open(t, filepath.Join(dir, "gc.log"), Options{Count: 500, Size: size, Naming: naming, Buffered: buffered})
			n := 0
			var groups []string
			for i := range 200 {
				var group []byte
				for range 1 + i*i%17 + i/50*20 {
					group = append(group, record(n)...)
					n++
				}
				groups = append(groups, string(group))
				if err := r.Write(group, false); err != nil {
					t.Fatal(err)
				}
			}
			closeFile(t, r)
			files := content(t, dir)
			wantRecords(t, all(t, dir), 0, n)
			next := 0
			for _, name := range names(files) {
				text := files[name][headSize:]
				first := next
				for next < len(groups) && strings.HasPrefix(text, groups[next]) {
					text = text[len(groups[next]):]
					next++
				}
				if text != "" {
					t.Fatalf("%s has a part of a group", name)
				}
				if len(files[name]) > size && next-first > 1 {
					t.Errorf("%s has %d bytes and %d groups", name, len(files[name]), next-first)
				}
			}
			if r.Bytes() != int64(n*recordSize+len(files)*headSize) {
				t.Errorf("%d bytes", r.Bytes())
			}
		})
	}
}

// TestHold: a rotation waits, but not forever.
func TestHold(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	setup := func(t *testing.T) (r *headed, count func() int) {
		dir := t.TempDir()
		r = open(t, filepath.Join(dir, "gc.log"), Options{Count: 10, Size: perFile(4)})
		r.now = func() time.Time { return now }
		write(t, r, 0, 4) // the file is full
		return r, func() int { return len(content(t, dir)) }
	}
	held := func(t *testing.T, r *headed, n int) {
		t.Helper()
		if err := r.Write(record(n), true); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("until it is allowed", func(t *testing.T) {
		r, count := setup(t)
		held(t, r, 4)
		held(t, r, 5)
		if count() != 1 {
			t.Error("it did not wait")
		}
		write(t, r, 6, 7)
		if count() != 2 {
			t.Error("it still waits")
		}
		closeFile(t, r)
	})
	t.Run("to twice the size", func(t *testing.T) {
		r, count := setup(t)
		most := 2 * perFile(4)
		size := perFile(4)
		for n := 4; n < 20; n++ {
			held(t, r, n)
			size += recordSize
			if want := map[bool]int{true: 1, false: 2}[size <= most]; count() != want {
				t.Fatalf("%d files with %d bytes, want %d", count(), size, want)
			}
			if count() == 2 {
				closeFile(t, r)
				return
			}
		}
	})
	t.Run("for a minute", func(t *testing.T) {
		r, count := setup(t)
		held(t, r, 4)
		now = now.Add(60 * time.Second)
		held(t, r, 5)
		if count() != 1 {
			t.Error("it did not wait for 60 s")
		}
		now = now.Add(time.Millisecond)
		held(t, r, 6)
		if count() != 2 {
			t.Error("it waits for more than 60 s")
		}
		// The next file has a minute of its own.
		for n := 7; n < 11; n++ {
			held(t, r, n)
		}
		if count() != 2 {
			t.Error("the next file does not wait")
		}
		closeFile(t, r)
	})
}

func TestReopen(t *testing.T) {
	for _, c := range []struct {
		name string
		what func(t *testing.T, dir, path string)
		want []string // file names, TIME for an archived one
		more string   // a file, with its expected contents
	}{
		{"still ours", func(*testing.T, string, string) {}, []string{"TIME", "gc.log"}, ""},
		{"renamed away", func(t *testing.T, dir, path string) {
			if err := os.Rename(path, filepath.Join(dir, "gc.log.1")); err != nil {
				t.Fatal(err)
			}
		}, []string{"gc.log", "gc.log.1"}, ""},
		{"deleted", func(t *testing.T, _, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, []string{"gc.log"}, ""},
		{"replaced by an empty one", func(t *testing.T, dir, path string) {
			if err := os.Rename(path, filepath.Join(dir, "gc.log.1")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"gc.log", "gc.log.1"}, ""},
		{"replaced by another one", func(t *testing.T, dir, path string) {
			if err := os.Rename(path, filepath.Join(dir, "gc.log.1")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("of somebody else\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"TIME", "gc.log", "gc.log.1"}, "TIME"},
		{"moved to another folder", func(t *testing.T, dir, path string) {
			if err := os.Mkdir(filepath.Join(dir, "old"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path, filepath.Join(dir, "old", "gc.log")); err != nil {
				t.Fatal(err)
			}
		}, []string{"gc.log"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.name != "still ours" {
				t.Skip("an open file cannot be moved on Windows")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "gc.log")
			r := open(t, path, Options{Count: 10, Size: 1 << 20})
			write(t, r, 0, 3)
			c.what(t, dir, path)
			before, _ := os.Stat(path)
			r.Reopen()
			write(t, r, 3, 5)
			write(t, r, 5, 6) // Reopen takes effect once
			closeFile(t, r)
			files := content(t, dir)
			var got []string
			archived := ""
			for name := range files {
				if strings.HasPrefix(name, "gc-") {
					archived, name = name, "TIME"
				}
				got = append(got, name)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("the files are %v, want %v", got, c.want)
			}
			wantRecords(t, numbers(t, "gc.log", files["gc.log"]), 3, 6)
			if text, there := files["gc.log.1"]; there {
				wantRecords(t, numbers(t, "gc.log.1", text), 0, 3)
			}
			switch {
			case c.more == "TIME":
				if files[archived] != "of somebody else\n" {
					t.Errorf("the file of somebody else is %q", files[archived])
				}
			case archived != "":
				wantRecords(t, numbers(t, archived, files[archived]), 0, 3)
			}
			if after, err := os.Stat(path); c.name == "replaced by an empty one" && (err != nil || !os.SameFile(before, after) || after.Mode().Perm() != 0o600) {
				t.Error("the file that was made for us is not used")
			}
		})
	}
}

// TestCopyTruncate: another program truncates the file. No NUL bytes replace its former content,
// not even in files after the first.
func TestCopyTruncate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gc.log")
	r := open(t, path, Options{Count: 10, Size: perFile(10)})
	stopClock(r)
	for from := 0; from < 30; from += 10 {
		write(t, r, from, from+5)
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		write(t, r, from+5, from+10)
	}
	closeFile(t, r)
	for name, text := range content(t, dir) {
		if strings.Contains(text, "\x00") {
			t.Errorf("%s has NUL bytes: %.40q", name, text)
		}
		if !strings.HasPrefix(text, "record ") || strings.Count(text, "\n") != 5 {
			t.Errorf("%s is %.40q", name, text)
		}
	}
}

// stopClock makes a file not look for changes that others make.
func stopClock(r *headed) {
	now := time.Now()
	r.now = func() time.Time { return now }
}

// TestFollow: changes that others make to the file are noticed without a notification.
func TestFollow(t *testing.T) {
	for name, c := range map[string]struct {
		what  func(path string) error
		moved bool // what was written before is elsewhere
	}{
		"renamed away": {func(path string) error { return os.Rename(path, path+".moved") }, true},
		"deleted":      {os.Remove, false},
		"cut off":      {func(path string) error { return os.Truncate(path, 0) }, false},
		"its folder deleted": {func(path string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(path)), os.MkdirAll(filepath.Dir(filepath.Dir(path)), 0o700))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("an open file cannot be moved on Windows")
			}
			path := filepath.Join(t.TempDir(), "made", "for it", "gc.log")
			r := open(t, path, Options{Count: 10, Size: 1 << 20, MakeDirs: true})
			clock := time.Now()
			r.now = func() time.Time { return clock }
			write(t, r, 0, 3)
			if err := c.what(path); err != nil {
				t.Fatal(err)
			}
			clock = clock.Add(lookEvery)
			write(t, r, 3, 6)
			closeFile(t, r)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(text), "head 0002\n") {
				t.Errorf("it begins with %.20q", text)
			}
			wantRecords(t, numbers(t, path, string(text)), 3, 6)
			if moved, err := os.ReadFile(path + ".moved"); c.moved {
				wantRecords(t, numbers(t, path, string(moved)), 0, 3)
			} else if err == nil {
				t.Error("a file too many")
			}
		})
	}
}

// TestGoroutines: lumberjack starts a goroutine for each logger, which never ends.
func TestGoroutines(t *testing.T) {
	dir := t.TempDir()
	var files Files
	first := openFrom(t, &files, filepath.Join(t.TempDir(), "first.log"), Options{})
	write(t, first, 0, 1) // when a program opens its first file, Go itself opens two
	closeFile(t, first)
	before := runtime.NumGoroutine()
	descriptors := openDescriptors()
	for i := range 200 {
		r := openFrom(t, &files, filepath.Join(dir, fmt.Sprint(i, ".log")), Options{Count: 5, Size: perFile(1)})
		write(t, r, 0, 3)
		closeFile(t, r)
	}
	if more := runtime.NumGoroutine() - before; more > 1 {
		t.Errorf("%d goroutines more after 200 files", more)
	}
	if more := openDescriptors() - descriptors; more > 0 {
		t.Errorf("%d open files more after 200 files", more)
	}
	if got, want := len(content(t, dir)), 600; got != want {
		t.Errorf("%d files, want %d", got, want)
	}
}

// openDescriptors returns how many files this process has open, if that is known.
func openDescriptors() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// TestSeveralAtOnce: files of one Files do not mix.
func TestSeveralAtOnce(t *testing.T) {
	var files Files
	var wg sync.WaitGroup
	for range 8 {
		dir := t.TempDir()
		wg.Go(func() {
			for range 5 {
				f, err := files.Open(filepath.Join(dir, "gc.log"), Options{Count: 1000, Size: perFile(3)})
				if err != nil {
					t.Error(err)
					return
				}
				r := &headed{f, formats.Head{Append: head, Joined: true}}
				for n := range 20 {
					if err := r.Write(record(n), false); err != nil {
						t.Error(err)
					}
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
			got := all(t, dir)
			for i, n := range got {
				if n != i%20 {
					t.Errorf("record %d at the place of %d", n, i%20)
					break
				}
			}
			if len(got) != 100 {
				t.Errorf("%d records, want 100", len(got))
			}
		})
	}
	wg.Wait()
}

func TestSymlink(t *testing.T) {
	setup := func(t *testing.T) (dir, far, path string) {
		dir = t.TempDir()
		far = filepath.Join(dir, "far")
		if err := os.Mkdir(far, 0o755); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(dir, "gc.log")
		if err := os.Symlink(filepath.Join(far, "gc.log"), path); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		return dir, far, path
	}
	check := func(t *testing.T, dir, far, path string, from int) {
		t.Helper()
		r := open(t, path, Options{Count: 10, Size: perFile(2)})
		write(t, r, from, 6)
		closeFile(t, r)
		if got, err := os.Readlink(path); err != nil || got != filepath.Join(far, "gc.log") {
			t.Errorf("the link is %q: %v", got, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 2 {
			t.Errorf("files beside the link: %v", entries)
		}
		wantRecords(t, all(t, far), 0, 6)
	}
	t.Run("to a file", func(t *testing.T) {
		dir, far, path := setup(t)
		if err := os.WriteFile(filepath.Join(far, "gc.log"), append(head(nil, 1), record(0)...), 0o600); err != nil {
			t.Fatal(err)
		}
		check(t, dir, far, path, 1)
	})
	t.Run("to a file that is not there yet", func(t *testing.T) {
		dir, far, path := setup(t)
		check(t, dir, far, path, 0)
	})
	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		far := t.TempDir()
		link := filepath.Join(dir, "logs")
		if err := os.Symlink(far, link); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		r := open(t, filepath.Join(link, "gc.log"), Options{Count: 10, Size: perFile(2)})
		write(t, r, 0, 6)
		closeFile(t, r)
		wantRecords(t, all(t, far), 0, 6)
	})
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Not a system device: incorrect code would rename it.
	socket, err := net.Listen("unix", filepath.Join(t.TempDir(), "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, c := range []struct{ name, path, want string }{
		{"missing folder", filepath.Join(dir, "missing", "gc.log"), "the directory of "},
		{"a file as a folder", filepath.Join(file, "gc.log"), ""},
		{"a folder", dir, "is not a regular file"},
		{"no regular file", socket.Addr().String(), "is not a regular file"},
		{"a name that is too long", filepath.Join(dir, strings.Repeat("x", 300)), ""},
	} {
		if f, err := (&Files{}).Open(c.path, Options{Count: 5, Size: 1000}); err == nil {
			t.Errorf("%s: no error", c.name)
			_ = f.Close()
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if got := names(content(t, dir)); !slices.Equal(got, []string{"file"}) {
		t.Errorf("the files are %v", got)
	}
}

// TestFolderGone: while its folder is missing, records are lost, and reported as such; no folder is
// created. Once it is back, records are written again.
func TestFolderGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder with open files cannot be deleted on Windows")
	}
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := open(t, filepath.Join(dir, "gc.log"), Options{Count: 10, Size: perFile(2)})
	write(t, r, 0, 2)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := r.Write(record(n), false); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("record %d: %v", n, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, r, 2, 5)
	closeFile(t, r)
	wantRecords(t, all(t, dir), 2, 5)
}

// TestRotationFails: writing continues in the same file, and the rotation is tried again when it
// has grown.
func TestRotationFails(t *testing.T) {
	dir := t.TempDir()
	r := open(t, filepath.Join(dir, "gc.log"), Options{Count: 1, Size: perFile(8), Naming: NameByIndex})
	blocked := filepath.Join(dir, "gc.log.0")
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, r, 0, 20)
	files := content(t, dir)
	if len(files) != 1 {
		t.Fatalf("the files are %v", names(files))
	}
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	write(t, r, 20, 23)
	files = content(t, dir)
	if len(files) != 2 {
		t.Errorf("it was not tried again: %v", names(files))
	}
	wantRecords(t, all(t, dir), 0, 23)
	write(t, r, 23, 50)
	closeFile(t, r)
	for name, text := range content(t, dir) {
		if int64(len(text)) > perFile(8) {
			t.Errorf("%s has %d bytes, though no rotation fails any more", name, len(text))
		}
	}
}

// TestBuffered: nothing is lost and no group is split, however the buffer is written.
func TestBuffered(t *testing.T) {
	dir := t.TempDir()
	r := open(t, filepath.Join(dir, "gc.log"), Options{Count: 100, Size: 300_000, Buffered: true})
	const records = 10_000
	for n := range records {
		write(t, r, n, n+1)
		if n == 4321 {
			r.Reopen()
		}
	}
	closeFile(t, r)
	wantRecords(t, all(t, dir), 0, records)
	// 3000 records fill a file; the second file was ended by Reopen.
	if got, want := len(content(t, dir)), 4; got != want {
		t.Errorf("%d files, want %d", got, want)
	}
}

// TestBufferedLittle: a file to which nothing was written does not exist, here or elsewhere, and
// even the shortest group is written.
func TestBufferedLittle(t *testing.T) {
	for _, want := range []string{"", "\n", "\n\n"} {
		dir, elsewhere := t.TempDir(), t.TempDir()
		t.Setenv("TMPDIR", elsewhere)
		f, err := (&Files{}).Open(filepath.Join(dir, "gc.log"), Options{Buffered: true})
		if err != nil {
			t.Fatal(err)
		}
		none := formats.Head{Append: func(dst []byte, _ int) []byte { return dst }, Joined: true}
		for _, group := range want {
			err = errors.Join(err, f.Write(none, []byte(string(group)), false))
		}
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		files := content(t, dir)
		if files["gc.log"] != want || len(files) != min(1, len(want)) || len(content(t, elsewhere)) > 0 {
			t.Errorf("%q is written as %q, and elsewhere %q", want, files, content(t, elsewhere))
		}
	}
}

// TestManyRotations: every record is in exactly one file, in order.
func TestManyRotations(t *testing.T) {
	rotations := extent.Pick(300, 1000)
	if testing.Short() {
		rotations = 200
	}
	bothNamings(t, func(t *testing.T, naming Naming) {
		dir := t.TempDir()
		r := open(t, filepath.Join(dir, "gc.log"), Options{Count: rotations, Size: perFile(3), Naming: naming})
		write(t, r, 0, 3*(rotations+1))
		closeFile(t, r)
		wantRecords(t, all(t, dir), 0, 3*(rotations+1))
		if got := len(content(t, dir)); got != rotations+1 {
			t.Errorf("%d files, want %d", got, rotations+1)
		}
	})
}

// A disk is a small file system that can be filled.
type disk struct {
	t   *testing.T
	dir string
}

// newDisk mounts a disk of 256 KB.
func newDisk(t *testing.T) *disk {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("only root on Linux can mount a small tmpfs that gets full")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "gclog-test", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small tmpfs that gets full: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return &disk{t, dir}
}

// fill uses up all space except about but bytes.
func (d *disk) fill(but int) {
	d.t.Helper()
	f, err := os.Create(filepath.Join(d.dir, "filler"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	n := int64(0)
	for page := make([]byte, 4096); ; {
		m, err := f.Write(page)
		n += int64(m)
		if err != nil {
			break
		}
	}
	if err := f.Truncate(max(0, n-int64(but))); err != nil {
		d.t.Fatal(err)
	}
}

func (d *disk) free() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.dir, "filler")); err != nil {
		d.t.Fatal(err)
	}
}

// TestDiskFull: everything reported as written is there, everything else is not, and no line is
// torn; when there is space again, records are whole again.
func TestDiskFull(t *testing.T) {
	for _, joined := range []bool{true, false} {
		for _, size := range []int64{perFile(20), 1 << 20} {
			t.Run(fmt.Sprint("joined=", joined, " size=", size), func(t *testing.T) {
				d := newDisk(t)
				f, err := (&Files{}).Open(filepath.Join(d.dir, "gc.log"), Options{Count: 1000, Size: size})
				if err != nil {
					t.Fatal(err)
				}
				r := &headed{f, formats.Head{Append: head, Joined: joined}}
				var want []int
				failed := 0
				for n := range 400 {
					switch n {
					case 100, 250:
						d.fill(4096)
					case 200, 350:
						d.free()
					}
					switch err := r.Write(record(n), false); {
					case err == nil:
						want = append(want, n)
					case errors.Is(err, syscall.ENOSPC):
						failed++
					default:
						t.Fatal(err)
					}
				}
				closeFile(t, r)
				if got := all(t, d.dir); !slices.Equal(got, want) {
					t.Errorf("the records are %v, written were %v", got, want)
				}
				if failed == 0 || !slices.Contains(want, 399) {
					t.Errorf("%d records failed, and the last one is written: %v", failed, slices.Contains(want, 399))
				}
			})
		}
	}
}

// TestDiskFullAfterTruncation: another program truncated the file, so it is shorter than what was
// written to it.
func TestDiskFullAfterTruncation(t *testing.T) {
	d := newDisk(t)
	path := filepath.Join(d.dir, "gc.log")
	r := open(t, path, Options{Count: 10, Size: 1 << 20})
	stopClock(r)
	write(t, r, 0, 300)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	d.fill(8192)
	n := 300
	for ; n < 600; n++ {
		if err := r.Write(record(n), false); err != nil {
			break
		}
	}
	d.free()
	write(t, r, n, n+1)
	closeFile(t, r)
	var want []byte
	for i := 300; i <= n; i++ {
		want = append(want, record(i)...)
	}
	if got := content(t, d.dir)["gc.log"]; got != string(want) {
		t.Errorf("%d bytes with %d NUL bytes, want %d bytes of whole records", len(got), strings.Count(got, "\x00"), len(want))
	}
}

// TestDiskFullTwice: a torn line that could not be removed once must not make the next one remove
// too much.
func TestDiskFullTwice(t *testing.T) {
	d := newDisk(t)
	path, away := filepath.Join(d.dir, "gc.log"), filepath.Join(d.dir, "away")
	r := open(t, path, Options{Count: 10, Size: 1 << 20})
	stopClock(r)
	written := func(from int) (n int) {
		d.fill(8192)
		defer d.free()
		for n = from; n < from+300; n++ {
			if err := r.Write(record(n), false); err != nil {
				break
			}
		}
		return n
	}
	write(t, r, 0, 3)
	// The file cannot be truncated while it is elsewhere.
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	first := written(3)
	write(t, r, first, first+1)
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
	second := written(first + 1)
	write(t, r, second, second+1)
	closeFile(t, r)
	var got []int
	for line := range strings.SplitSeq(content(t, d.dir)["gc.log"], "\n") {
		if m := wholeRecord.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			got = append(got, n)
		}
	}
	wantRecords(t, got, 0, second+1)
}

// TestTakeBack: the remains of a failed write are removed, even if others have renamed or truncated
// the file since.
func TestTakeBack(t *testing.T) {
	const left = "half a li"
	for _, c := range []struct {
		name string
		do   func(path string) error
		torn bool
	}{
		{"nothing happens", func(string) error { return nil }, false},
		{"moved away", func(path string) error { return os.Rename(path, path+".1") }, false},
		{"deleted", os.Remove, false},
		{"cut to nothing", func(path string) error { return os.Truncate(path, 0) }, false},
		{"cut off", func(path string) error { return os.Truncate(path, 5) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gc.log")
			r := open(t, path, Options{})
			write(t, r, 0, 3)
			if r.file == nil {
				t.Skip("files cannot be locked here")
			}
			if _, err := r.log.Write([]byte(left)); err != nil {
				t.Fatal(err)
			}
			if err := c.do(path); err != nil {
				t.Fatal(err)
			}
			before, err := r.file.Stat()
			if err != nil {
				t.Fatal(err)
			}
			r.takeBack(int64(len(left)))
			after, err := r.file.Stat()
			if err != nil {
				t.Fatal(err)
			}
			want := before.Size()
			if want >= int64(len(left)) {
				want -= int64(len(left))
			}
			if after.Size() != want || r.torn != c.torn {
				t.Errorf("%d bytes became %d, want %d; torn: %v, want %v", before.Size(), after.Size(), want, r.torn, c.torn)
			}
			closeFile(t, r)
		})
	}
}

// TestDiskFullBuffered: groups that were accepted but are not in the file are reported, when they
// are written or by Close.
func TestDiskFullBuffered(t *testing.T) {
	d := newDisk(t)
	r := open(t, filepath.Join(d.dir, "gc.log"), Options{Count: 10, Size: 1 << 20, Buffered: true})
	var taken []int
	failed := 0
	for n := range 3000 {
		switch n {
		case 500:
			d.fill(8192)
		case 1500:
			d.free()
		}
		if err := r.Write(record(n), false); err == nil {
			taken = append(taken, n)
		} else {
			failed++
		}
	}
	err := r.Close()
	got := all(t, d.dir)
	if failed == 0 {
		t.Error("no record failed: the disk was not full")
	}
	if err == nil && !slices.Equal(got, taken) {
		t.Errorf("%d records are in the file, %d were taken, %d were not, and Close has no error", len(got), len(taken), failed)
	}
	if !slices.IsSorted(got) {
		t.Errorf("the records are %v", got)
	}
}

// limited writes records to a file whose length is limited by ulimit.
func limited(path string) {
	f, err := (&Files{}).Open(path, Options{Count: 10, Size: 1 << 20})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	r := &headed{f, formats.Head{Append: head, Joined: true}}
	for n := range 200 {
		if n == 150 {
			r.Reopen() // a new file, which has space
		}
		fmt.Println(n, r.Write(record(n), false) == nil)
	}
	fmt.Println("closed", r.Close() == nil)
}

// TestFileLimit tests a write that is cut short, even for users who cannot mount a disk.
func TestFileLimit(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no sh with ulimit to limit the length of files")
	}
	dir := t.TempDir()
	// Blocks of 512 or 1024 bytes: not a multiple of a record's length.
	cmd := exec.Command(sh, "-c", `ulimit -f 11 && exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=limited "+filepath.Join(dir, "gc.log"))
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("closed true\n")) {
		t.Fatalf("%v: %s", err, out)
	}
	want := reported(t, out)
	if len(want) == 200 || !slices.Contains(want, 150) {
		t.Fatalf("the limit had no effect: %s", out)
	}
	if got := all(t, dir); !slices.Equal(got, want) {
		t.Errorf("the records are %v, written were %v", got, want)
	}
}

// reported returns the records that a helper reported as written.
func reported(t *testing.T, out []byte) (list []int) {
	t.Helper()
	for line := range strings.SplitSeq(string(out), "\n") {
		var n int
		var written bool
		if c, _ := fmt.Sscan(line, &n, &written); c == 2 && written {
			list = append(list, n)
		}
	}
	return list
}

// faultRecords is how many records the helper of TestFaults writes, three to a file.
const faultRecords = 15

// faultClock is the helper's clock: it makes the names of the archived files predictable.
var faultClock = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// faulty writes records while a tracer makes system calls fail, and prints for each whether Write
// accepted it. All calls are made by one thread, because the tracer counts them by thread.
func faulty(args []string) {
	runtime.LockOSThread()
	path, naming, joined := args[0], Naming(args[1][0]-'0'), args[2] == "joined"
	f, err := (&Files{}).Open(path, Options{Count: 20, Size: perFile(3), Naming: naming})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	r := &headed{f, formats.Head{Append: head, Joined: joined}}
	r.now = func() time.Time { return faultClock }
	for n := range faultRecords {
		err := r.Write(record(n), false)
		fmt.Println(n, err == nil, err)
	}
	_ = r.Close() // every write was already reported
	fmt.Println("end")
}

// faultPaths returns the helper's files, as its system calls name them: by name in the open
// directory, or by descriptor.
func faultPaths(path string, naming Naming) []string {
	names := []string{filepath.Base(path)}
	for i := range 8 {
		if naming == NameByIndex {
			names = append(names, fmt.Sprintf("%s.%02d", names[0], i))
		} else {
			at := faultClock.Add(time.Duration(i) * time.Millisecond)
			names = append(names, strings.TrimSuffix(names[0], ".log")+"-"+at.Format(timeInName)+".log")
		}
	}
	list := slices.Clone(names)
	for _, name := range names {
		list = append(list, filepath.Join(filepath.Dir(path), name))
	}
	for fd := range 16 {
		list = append(list, fmt.Sprintf("/proc/self/fd/%d", fd))
	}
	return list
}

// TestFaults makes each system call on the log files fail, one in each run, or all from one on:
// everything reported as written is there, once, and no line is torn.
func TestFaults(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace to make system calls fail")
	}
	if out, err := exec.Command(strace, "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "trace=close", "-e", "inject=close:error=EIO:when=1000", "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v: %s", err, out)
	}
	// Go opens with openat and renames with renameat.
	syscalls := []string{"openat", "write", "renameat", "close"}
	faults := []fault{{"EIO", "", "joined"}, {"ENOSPC", "", "separate"}, {"ENOSPC", "+", "joined"}}
	if testing.Short() {
		syscalls, faults = syscalls[:1], faults[:1]
	}
	t.Run("all", func(t *testing.T) {
		for i, call := range syscalls {
			for j, f := range faults {
				for k, naming := range []Naming{NameByTime, NameByIndex} {
					if !extent.Full() && !testing.Short() && (i+j+k)%len(faults) != 0 {
						continue // each call, fault and naming is in some of those that are left
					}
					t.Run(fmt.Sprint(call, " ", f.err, f.and, " ", [...]string{"time", "index"}[naming]), func(t *testing.T) {
						t.Parallel()
						runs := 0
						for f.inject(t, strace, call, runs+1, naming) {
							runs++
						}
						// Each file is opened twice, renamed and closed; a call that is never
						// reached tests nothing.
						if runs < 3 {
							t.Errorf("only %d calls of %s were met", runs, call)
						}
						t.Logf("%d calls", runs)
					})
				}
			}
		}
	})
}

// A fault is how a call fails.
type fault struct {
	err  string
	and  string // "+": also all calls that follow
	head string // whether headers are joined to the first group
}

// inject runs the helper with the given call failing, and reports whether that call was reached.
func (f fault) inject(t *testing.T, strace, call string, number int, naming Naming) bool {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	path, log := filepath.Join(dir, "gc.log"), filepath.Join(t.TempDir(), "strace")
	args := []string{"-f", "--seccomp-bpf", "-qq", "-o", log, "-e", "trace=" + call, "-e", "signal=none", "-e", fmt.Sprintf("inject=%s:error=%s:when=%d%s", call, f.err, number, f.and)}
	for _, p := range faultPaths(path, naming) {
		args = append(args, "-P", p)
	}
	cmd := exec.Command(strace, append(args, os.Args[0])...)
	cmd.Env = append(os.Environ(), helperEnv+"=faulty "+path+" "+strconv.Itoa(int(naming))+" "+f.head)
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.HasSuffix(out, []byte("end\n")) {
		t.Fatalf("call %d: %v: %s", number, err, out)
	}
	calls, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(calls, []byte("(INJECTED)")) {
		if want := faultRecords; len(reported(t, out)) != want {
			t.Errorf("%d records written without a fault, want %d", len(reported(t, out)), want)
		}
		return false
	}
	want, got := reported(t, out), all(t, dir)
	slices.Sort(got) // the file in which writing continued may have any name
	for name, text := range content(t, dir) {
		if text == "" && name != "gc.log" || text != "" && f.head == "joined" && len(numbers(t, name, text)) == 0 {
			t.Errorf("%s is left over without a record", name)
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != 0o640&umasked(t) {
			t.Errorf("%s has the mode %v, want %v: %v", name, info.Mode(), 0o640&umasked(t), err)
		}
	}
	if !slices.Equal(got, want) || t.Failed() {
		t.Errorf("call %d: the records are %v, written were %v\n%s%s%v", number, got, want, out, calls, names(content(t, dir)))
		return false
	}
	return true
}
