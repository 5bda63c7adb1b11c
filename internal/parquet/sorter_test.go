package parquet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// TestCopies: of the copies of a collection the one that says most is in the file, whichever input has
// it, and whatever time each of them states.
func TestCopies(t *testing.T) {
	full := func(number uint32) *gclog.GCDetails {
		d := collection(number, float64(number))
		d.PromotedBytes = 42
		d.Known |= gclog.GroupPromoted
		return d
	}
	poor := func(number uint32) *gclog.GCDetails { return collection(number, float64(number)) }
	rounded := func(number uint32, by time.Duration) *gclog.GCDetails {
		d := full(number)
		d.FromLog = true
		d.Pauses[0].Start += int64(by)
		return d
	}
	const n = 50
	for seed := range uint64(4) {
		for _, inMemory := range []int{sortBytes, 2000} {
			t.Run(fmt.Sprint(seed, inMemory), func(t *testing.T) {
				table := NewTable(Options{Path: filepath.Join(t.TempDir(), "a.parquet")})
				table.sorter.inMemory = inMemory
				var copies []*gclog.GCDetails
				for i := range uint32(n) {
					copies = append(copies, full(i), full(i), poor(i), rounded(i, -time.Millisecond), rounded(i, 0), rounded(i, time.Millisecond))
				}
				rand.New(rand.NewPCG(seed, 0)).Shuffle(len(copies), func(i, j int) { copies[i], copies[j] = copies[j], copies[i] })
				for _, d := range copies {
					table.Observe(testProcess("a", 1), "", must(t))(d)
				}
				files, err := table.Finish()
				must(t)(err)
				rows, _ := readFile(t, files[0].Path)
				if len(rows) != n || files[0].Rows != n {
					t.Fatalf("%d rows, want %d", len(rows), n)
				}
				for i, r := range rows {
					at := testProcess("", 0).Sync.UnixMicro() + int64(i)*1e6
					if r["gc_number"] != int64(i) || r["gc_heap_promoted_bytes"] != int64(42) || r["gc_from_log"] != nil || r["timestamp"] != at {
						t.Errorf("row %d is %v", i, r)
					}
				}
			})
		}
	}
}

// TestCopiesFarApart: copies with more rows between them than wait are both written.
func TestCopiesFarApart(t *testing.T) {
	for _, between := range []int{9, 10} {
		table := NewTable(Options{Path: filepath.Join(t.TempDir(), "a.parquet")})
		table.sorter.window = 10
		o := table.Observe(testProcess("a", 1), "", must(t))
		o(collection(1, 0))
		for i := range between {
			o(collection(uint32(i+2), float64(i+1)))
		}
		last := collection(1, 100)
		last.Known |= gclog.GroupPromoted
		o(last)
		files, err := table.Finish()
		must(t)(err)
		if want := between + 1 + max(0, between-9); files[0].Rows != int64(want) {
			t.Errorf("%d rows, want %d", files[0].Rows, want)
		}
	}
}

// TestFlagStatistics: the statistics of a column with flags are those of its values.
func TestFlagStatistics(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9} {
		for _, x := range []struct {
			flags     func(i int) bool
			low, high byte
		}{
			{func(int) bool { return false }, 0, 0},
			{func(int) bool { return true }, 1, 1},
			{func(i int) bool { return i == n-1 }, min(1, byte(n-1)) ^ 1, 1},
		} {
			table := NewTable(Options{Path: filepath.Join(t.TempDir(), "a.parquet")})
			o := table.Observe(testProcess("a", 1), "", must(t))
			for i := range n {
				d := collection(uint32(i), float64(i))
				d.Complete = x.flags(i)
				o(d)
			}
			files, err := table.Finish()
			must(t)(err)
			_, file := readFile(t, files[0].Path)
			for _, c := range file.Metadata().RowGroups[0].Columns {
				s := c.MetaData.Statistics
				switch name := c.MetaData.PathInSchema[0]; {
				case name == "gc_complete":
					if len(s.MinValue) != 1 || s.MinValue[0] != x.low || len(s.MaxValue) != 1 || s.MaxValue[0] != x.high {
						t.Errorf("of %d flags the limits are %v and %v, want %d and %d", n, s.MinValue, s.MaxValue, x.low, x.high)
					}
				case name == "gc_provisional" && len(s.MinValue)+len(s.MaxValue) > 0:
					t.Errorf("a column without values has limits: %v, %v", s.MinValue, s.MaxValue)
				}
			}
		}
	}
}

// TestEmptyLists: a list without elements is not an unknown one.
func TestEmptyLists(t *testing.T) {
	table := NewTable(Options{Path: filepath.Join(t.TempDir(), "a.parquet")})
	o := table.Observe(testProcess("a", 1), "", must(t))
	lists := []any{nil, []string{}, []string{"Concurrent"}, []string{}, nil, []string{"Concurrent", "Compaction"}, nil}
	for i, list := range lists {
		d := collection(uint32(i), float64(i))
		if names, known := list.([]string); known {
			d.Known |= gclog.GroupGlobal
			for _, name := range names {
				m, ok := clr.ParseMechanism([]byte(name))
				if !ok {
					t.Fatal(name)
				}
				d.Global.Mechanisms |= m
			}
		}
		o(d)
	}
	files, err := table.Finish()
	must(t)(err)
	rows, _ := readFile(t, files[0].Path)
	for i, want := range lists {
		if got := rows[i]["gc_mechanisms"]; fmt.Sprintf("%T%v", got, got) != fmt.Sprintf("%T%v", want, want) {
			t.Errorf("row %d has %v, want %v", i, got, want)
		}
	}
}

// TestStalls: the row of a stall says of the collection what its JSON record says.
func TestStalls(t *testing.T) {
	open := gclog.Open{Kind: gclog.OpenGC, Since: 1e9, Number: 7, HasNumber: true, Generation: 2, Type: clr.TypeBackground, Reason: clr.ReasonInduced, HasReason: true}
	for _, x := range []struct {
		stall gclog.Stall
		want  map[string]any
	}{
		{gclog.Stall{Open: open, Now: 3e9, Threshold: 1e9}, map[string]any{"gc_stall_number": int64(7), "gc_stall_generation": int64(2), "gc_stall_type": "background", "gc_stall_reason": open.Reason.String(), "gc_stall_kind": "gc"}},
		{gclog.Stall{Open: gclog.Open{Kind: gclog.OpenSuspension, Since: 1e9}, Now: 3e9, Threshold: 1e9}, map[string]any{"gc_stall_number": nil, "gc_stall_generation": nil, "gc_stall_type": nil, "gc_stall_reason": nil, "gc_stall_kind": "suspension"}},
	} {
		table := NewTable(Options{Path: filepath.Join(t.TempDir(), "a.parquet")})
		p := testProcess("a", 1)
		var log bytes.Buffer
		format, err := formats.Find("json")
		must(t)(err)
		w := formats.NewWriter(format, formats.NewStream(&log, false), formats.Options{Process: *p, Version: "1.0"})
		gclog.Tee(w.Observe, table.Observe(p, "", must(t)))(&x.stall)
		files, err := table.Finish()
		must(t)(err)
		rows, _ := readFile(t, files[0].Path)
		for name, want := range x.want {
			if got := rows[0][name]; got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		var line map[string]any
		lines := bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n"))
		decoder := json.NewDecoder(bytes.NewReader(lines[len(lines)-1]))
		decoder.UseNumber()
		must(t)(decoder.Decode(&line))
		want := record{}
		flatten(want, "", line)
		compare(t, want, rows[0], map[string]int{})
	}
}
