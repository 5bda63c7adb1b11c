package formats_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// someone is a process of which everything is known.
func someone() gclog.Process {
	p := gclog.Process{
		ID: 4711, Name: "MyApp", CommandLine: "dotnet MyApp.dll", EntryAssembly: "MyApp", Service: "shop", RuntimeVersion: "10.0.14",
		Flavor: "CoreCLR", OS: "linux", Architecture: "x86_64", Cookie: "1b8a56c0-0000-4000-8000-4a4f5c9e0001",
		Started: time.Date(2026, 11, 5, 9, 59, 58, 250_000_000, time.UTC), StartKey: 4242, Executable: "/usr/bin/dotnet", User: "app", ContainerID: "0123456789ab",
		ContainerName: "api", Namespace: "prod", Pod: "shop-0", PodUID: "4f6b5d5e", ServiceVersion: "1.2.3",
		Labels: map[string]string{"team": "orders", "app.kubernetes.io/name": "shop"},
		Server: gclog.Yes, Concurrent: gclog.No, HeapCount: 4, GCLibrary: "libclrgc.so", HasLimits: true,
		Sync: time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC), UptimeAtSync: 1750 * time.Millisecond,
	}
	fill(reflect.ValueOf(&p.Limits).Elem())
	return p
}

// written returns what a format writes for the calls in write: the header and the records.
func written(t *testing.T, format string, o formats.Options, write func(w *formats.Writer)) (head string, records []string) {
	t.Helper()
	f, err := formats.Find(format)
	if err != nil {
		t.Fatal(err)
	}
	out := &memory{}
	w := formats.NewWriter(f, out, o)
	write(w)
	if w.Err() != nil {
		t.Fatal(w.Err())
	}
	if len(out.files) == 0 {
		return "", nil
	}
	from := out.files[0].groups[0]
	text := string(out.files[0].text)
	return strings.TrimSuffix(text[:from], "\n"), lines([]byte(text[from:]))
}

// fill sets everything in v to a value other than zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.SetUint(1); v.Type() == reflect.TypeFor[gclog.Groups]() {
			v.SetUint(math.MaxUint64)
		}
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1.5)
	case reflect.String:
		v.SetString(hostile)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				fill(f)
			}
		}
	}
}

// TestEverything writes records in which everything is set, even what no runtime sends together:
// records come from an untrusted target.
func TestEverything(t *testing.T) {
	for _, kind := range []gclog.Kind{gclog.KindBlocking, gclog.KindBackground, gclog.KindForeground} {
		for _, generation := range []int{0, 1, 2, 255} {
			d := &gclog.GCDetails{}
			fill(reflect.ValueOf(d).Elem())
			d.Kind, d.Generation, d.GenerationCount, d.TimingCount = kind, generation, gclog.Generations, clr.Times
			d.Flaws = ^gclog.Flaw(0)
			d.Global.Mechanisms, d.Global.Condemned = ^d.Global.Mechanisms, ^d.Global.Condemned
			d.Reason, d.Global.PauseMode = 99, 99
			d.Datas.Tuning.MedianThroughputCost = float32(math.NaN())
			for i := range d.Heaps {
				d.Heaps[i].History.Generations = gclog.Generations
			}
			o := formats.Options{Process: someone(), Version: hostile, Session: hostile, Host: hostile}
			name := fmt.Sprintf("%v gen%d", kind, generation)
			head, records := written(t, "json", o, func(w *formats.Writer) { w.Observe(d) })
			checkHeader(t, name+" head", []byte(head))
			byPath := checkRecord(t, name, []byte(records[0]))
			if got := fmt.Sprint(byPath["dotnet.gc.generation"]); got != strconv.Itoa(generation) || !strings.HasPrefix(byPath["message"].(string), fmt.Sprintf("GC 1 gen%d ", generation)) {
				t.Errorf("%s: json says gen%s: %s", name, got, byPath["message"])
			}
			head, records = written(t, "csv", o, func(w *formats.Writer) { w.Observe(d) })
			if rows, err := csv.NewReader(strings.NewReader(head + "\n" + records[0] + "\n")).ReadAll(); err != nil || len(rows) != 2 {
				t.Errorf("csv: %d rows: %v", len(rows), err)
			}
			if _, records = written(t, "text", o, func(w *formats.Writer) { w.Observe(d) }); len(records) != 1 || strings.TrimPrefix(strings.Fields(records[0])[2], "1->") != strconv.Itoa(generation) {
				t.Errorf("text: %d lines for %s: %s", len(records), name, records)
			}
			if _, records = written(t, "unified", o, func(w *formats.Writer) { w.Observe(&gclog.Pause{GC: d}); w.Observe(d) }); !strings.Contains(strings.Join(records, "\n"), fmt.Sprintf("DotNet: gen%d %s", generation, kind)) {
				t.Errorf("unified: no gen%d in %s", generation, records)
			}
		}
	}
}

// TestHostileFacts: whatever a process calls itself, a log remains valid in its format.
func TestHostileFacts(t *testing.T) {
	p := someone()
	for _, s := range []*string{&p.Name, &p.Service, &p.RuntimeVersion, &p.Flavor, &p.Architecture, &p.Cookie, &p.Executable, &p.ContainerID, &p.GCLibrary, &p.ContainerName, &p.Namespace, &p.Pod, &p.PodUID, &p.ServiceVersion} {
		*s = hostile
	}
	p.Name = strings.Repeat(hostile, 100)
	p.Labels = map[string]string{hostile: hostile, "a.b": "dotted", "a_b": "not dotted"}
	o := formats.Options{Process: p, Host: hostile, Version: hostile, Session: hostile}
	pause := &gclog.Pause{PausePart: gclog.PausePart{Duration: 1e6}, GC: &gclog.GCDetails{Number: 1, Known: gclog.GroupNumber}}
	write := func(w *formats.Writer) {
		w.Observe(&gclog.Start{Providers: hostile})
		w.Observe(pause)
		w.Observe(&gclog.End{Reason: gclog.EndStreamError, Message: hostile, HasCode: true})
	}
	for format, check := range map[string]func(*testing.T, []byte, coverage) *jdkLog{"unified": checkUnified, "jdk8": checkJDK8} {
		head, records := written(t, format, o, write)
		if log := check(t, []byte(head+"\n"+strings.Join(records, "\n")+"\n"), whole); len(log.pauses) != 1 {
			t.Errorf("%s: %d pauses", format, len(log.pauses))
		}
		if !regexp.MustCompile(`^[\n -~]*$`).MatchString(head) || len(head) > 4096 {
			t.Errorf("%s: a head of %d bytes: %q", format, len(head), head)
		}
	}
	head, records := written(t, "json", o, write)
	checkHeader(t, "head", []byte(head))
	for i, r := range records {
		byPath := checkRecord(t, fmt.Sprintf("record %d", i), []byte(r))
		if want := string([]rune(p.Name)); byPath["process.name"] != want {
			t.Errorf("process.name is %q", byPath["process.name"])
		}
	}
	_, records = written(t, "text", o, write)
	if text := strings.Join(records, ""); strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("text: %q", text)
	}
}

// TestOpenPhases: a phase whose end was not seen is ended when its collection is given up, or the
// log ends: readers wait for it. The lines stay in order.
func TestOpenPhases(t *testing.T) {
	const ms = int64(time.Millisecond)
	background := &gclog.GCDetails{Number: 5, Known: gclog.GroupNumber, Generation: 2, Type: clr.TypeBackground, Kind: gclog.KindBackground}
	pause := func(w *formats.Writer, n uint32, kind gclog.PauseKind, start int64) {
		d := &gclog.GCDetails{Number: n, Known: gclog.GroupNumber, Kind: gclog.KindForeground}
		if kind != gclog.PauseBlocking {
			d = background
		}
		w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: kind, Start: start, Duration: ms}, GC: d})
	}
	ends := map[string]func(w *formats.Writer){
		"given up": func(w *formats.Writer) {
			d := background.Clone()
			d.Flaws = gclog.FlawNoEnd
			w.Observe(d)
			pause(w, 7, gclog.PauseBlocking, 90*ms)
		},
		"ended unseen": func(w *formats.Writer) {
			d := background.Clone()
			d.End = 80 * ms
			d.Known |= gclog.GroupEnd | gclog.GroupAfter
			w.Observe(d)
			pause(w, 7, gclog.PauseBlocking, 90*ms)
		},
		"end of the log": func(w *formats.Writer) { w.Observe(&gclog.End{At: 100 * ms, Reason: gclog.EndExited}) },
	}
	for name, end := range ends {
		for _, kind := range []gclog.PhaseKind{gclog.PhaseMark, gclog.PhaseSweep} {
			for format, check := range map[string]func(*testing.T, []byte, coverage) *jdkLog{"unified": checkUnified, "jdk8": checkJDK8} {
				t.Run(fmt.Sprint(format, " ", kind, " ", name), func(t *testing.T) {
					head, records := written(t, format, formats.Options{Process: someone()}, func(w *formats.Writer) {
						pause(w, 5, gclog.PauseInitial, 10*ms)
						w.Observe(&gclog.Phase{Kind: kind, Start: 11 * ms, Time: 11 * ms, GC: background})
						pause(w, 6, gclog.PauseBlocking, 50*ms)
						end(w)
					})
					log := check(t, []byte(head+"\n"+strings.Join(records, "\n")+"\n"), whole)
					if len(log.pauses) < 2 {
						t.Errorf("%d pauses", len(log.pauses))
					}
				})
			}
		}
	}
}

// TestCauses tests the words for the cause, even of reasons that no recording contains.
func TestCauses(t *testing.T) {
	for reason := range clr.Reason(20) {
		for _, generation := range []int{0, 1, 2} {
			d := &gclog.GCDetails{Number: 1, Known: gclog.GroupNumber | gclog.GroupReason, Reason: reason, Generation: generation}
			p := &gclog.Pause{GC: d}
			_, records := written(t, "jdk8", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(p) })
			kind := map[bool]string{true: "Pause Full (", false: "Pause Young ("}[generation == 2]
			java := strings.TrimSuffix(strings.TrimPrefix(javaName(p), kind), ")")
			if !strings.Contains(records[0], "GC ("+java+") ") {
				t.Errorf("%v of gen%d must be %s: %s", reason, generation, java, records[0])
			}
			// With --causes dotnet only letters: with digits and brackets readers lose the event.
			_, records = written(t, "unified", formats.Options{Process: someone(), DotnetCauses: true}, func(w *formats.Writer) { w.Observe(p) })
			want := reason.String()
			if !reason.Known() {
				want = "Other"
			}
			if !regexp.MustCompile(`^[A-Za-z]+$`).MatchString(want) || !strings.HasSuffix(records[0], kind+want+")") {
				t.Errorf("%v of gen%d: %s", reason, generation, records[0])
			}
		}
	}
}
