package gcsettings

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// TestDefaults: the defaults depend on what is set. The values were observed on the runtimes.
func TestDefaults(t *testing.T) {
	const machine = 25276510208
	here := Memory{Machine: machine, Known: true}
	container := Memory{Machine: machine, Limit: 399998976, Known: true}
	type variables map[string]string
	for _, test := range []struct {
		name    string
		major   int
		server  bool
		library string
		memory  Memory
		set     variables
		want    map[string]string // value, and part of the note after |
		absent  []string
	}{
		{"DATAS", 10, true, "", here, nil, map[string]string{"GCDynamicAdaptationMode": "1|DATAS", "GCHeapCount": "as many as pay off|DATAS", "GCDTargetTCP": "2%|", "GCHeapHardLimit": "none|", "GCNoAffinitize": "off|"}, nil},
		{
			"a heap count", 10, true, "", here,
			variables{"DOTNET_GCHeapCount": "10"},
			map[string]string{"GCDynamicAdaptationMode": "0|DOTNET_GCHeapCount sets"},
			[]string{"GCHeapCount", "GCDTargetTCP"},
		},
		{"no DATAS", 10, true, "", here, variables{"DOTNET_GCDynamicAdaptationMode": "0"}, map[string]string{"GCHeapCount": "one per processor|"}, []string{"GCDynamicAdaptationMode", "GCDGen0GrowthPercent"}},
		{"before DATAS", 8, true, "", here, nil, map[string]string{"GCDynamicAdaptationMode": "0|since .NET 9", "GCHeapCount": "one per processor|"}, nil},
		{"DATAS of .NET 8", 8, true, "", here, variables{"DOTNET_GCDynamicAdaptationMode": "1"}, map[string]string{"GCHeapCount": "as many as pay off|DATAS"}, nil},
		{"segments", 9, true, "libclrgc.so", here, nil, map[string]string{"GCDynamicAdaptationMode": "0|segments", "GCHeapCount": "one per processor|", "GCSegmentSize": "depends on the flavour|"}, []string{"GCRegionSize", "GCRegionRange"}},
		{"chosen processors", 8, true, "", here, variables{"DOTNET_GCHeapAffinitizeRanges": "0"}, map[string]string{"GCHeapCount": "one per processor|of DOTNET_GCHeapAffinitizeRanges"}, nil},
		{"the most heaps", 8, true, "", here, variables{"DOTNET_GCMaxHeapCount": "3"}, map[string]string{"GCHeapCount": "one per processor, at most 3|"}, nil},
		{"workstation", 10, false, "", here, nil, map[string]string{"GCTotalPhysicalMemory": "25276510208|of the machine"}, []string{"GCHeapCount", "GCDynamicAdaptationMode", "GCNoAffinitize"}},
		{"a share of the machine", 8, false, "", here, variables{"DOTNET_GCHeapHardLimitPercent": "32"}, map[string]string{"GCHeapHardLimit": "12638255104|50% of the memory of the machine: DOTNET_GCHeapHardLimitPercent"}, nil},
		{"a share of less", 8, false, "", here, variables{"DOTNET_GCHeapHardLimitPercent": "32", "DOTNET_GCTotalPhysicalMemory": "40000000"}, map[string]string{"GCHeapHardLimit": "536870912|50% of the memory of DOTNET_GCTotalPhysicalMemory"}, nil},
		{"a share of what is not known", 8, true, "", Memory{}, variables{"DOTNET_GCHeapHardLimitPercent": "32"}, map[string]string{"GCHeapHardLimit": "50% of the memory of the machine or container: DOTNET_GCHeapHardLimitPercent|", "GCNoAffinitize": "on|hard limit"}, nil},
		{"no share", 8, false, "", here, variables{"DOTNET_GCHeapHardLimitPercent": "64"}, map[string]string{"GCHeapHardLimit": "none|"}, nil},
		{"a limit for each", 8, false, "", here, variables{"DOTNET_GCHeapHardLimitSOH": "20000000", "DOTNET_GCHeapHardLimitLOH": "10000000", "DOTNET_GCHeapHardLimitPOH": "10000000"}, map[string]string{"GCHeapHardLimit": "1073741824|sum"}, nil},
		{"a share for each", 8, false, "", here, variables{"DOTNET_GCHeapHardLimitSOHPercent": "20", "DOTNET_GCHeapHardLimitLOHPercent": "10", "DOTNET_GCHeapHardLimitPOHPercent": "10"}, map[string]string{"GCHeapHardLimit": "16176966532|64% of the memory"}, nil},
		{"a container", 8, true, "", container, nil, map[string]string{"GCHeapHardLimit": "299999232|75% of the memory of the container", "GCTotalPhysicalMemory": "399998976|of the container", "GCNoAffinitize": "on|hard limit"}, nil},
		{"assumed memory", 8, false, "", here, variables{"DOTNET_GCTotalPhysicalMemory": "40000000"}, map[string]string{"GCHeapHardLimit": "805306368|75% of the memory of DOTNET_GCTotalPhysicalMemory"}, nil},
		{"a small container", 8, false, "", Memory{Machine: machine, Limit: 10 << 20, Known: true}, nil, map[string]string{"GCHeapHardLimit": "20971520|container"}, nil},
		{"perhaps a container", 8, true, "", Memory{}, nil, map[string]string{"GCHeapHardLimit": "none; in a container|", "GCNoAffinitize": "off; on with a hard limit|"}, nil},
		{"a limit and processors", 8, true, "", here, variables{"DOTNET_GCHeapHardLimit": "20000000", "DOTNET_GCHeapAffinitizeRanges": "0-1"}, map[string]string{"GCNoAffinitize": "off|processors are selected"}, []string{"GCHeapHardLimit"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &gclog.Process{Server: gclog.KnownBool(test.server), GCLibrary: test.library}
			r := Examine(p, Heaps{}, &Configuration{Major: test.major, Variables: notNil(test.set), Config: &Config{}, Memory: test.memory}, Sources{})
			got := map[string]Fact{}
			for _, f := range r.Default {
				got[f.Name] = f
			}
			for name, want := range test.want {
				value, note, _ := strings.Cut(want, "|")
				if f := got[name]; !strings.HasPrefix(f.Value, value) || !strings.Contains(f.Note, note) || note == "" && f.Note != "" {
					t.Errorf("%s is %q (%s), want %s", name, f.Value, f.Note, want)
				}
			}
			for _, name := range test.absent {
				if f, ok := got[name]; ok {
					t.Errorf("%+v is a default", f)
				}
			}
		})
	}
}

// notNil returns the variables of a process whose environment can be read.
func notNil(variables map[string]string) map[string]string {
	if variables == nil {
		return map[string]string{}
	}
	return variables
}

// TestNoDefaults: what may be set where gclog cannot look has no default.
func TestNoDefaults(t *testing.T) {
	property := map[string]bool{}
	for _, s := range Settings() {
		property[s.Variable] = s.Property != ""
	}
	for _, test := range []struct {
		c            Configuration
		plain, other bool // whether settings without and with a property have defaults
	}{
		{Configuration{Variables: map[string]string{}, Config: &Config{}}, true, true},
		{Configuration{Variables: map[string]string{}}, true, false},
		{Configuration{Config: &Config{}}, false, false},
		{Configuration{}, false, false},
		{Configuration{NativeAOT: true, Variables: map[string]string{}}, true, true}, // it has no such file
	} {
		test.c.Major = 8
		got := map[bool]int{}
		for _, f := range Examine(&gclog.Process{}, Heaps{}, &test.c, Sources{}).Default {
			got[property[f.Name]]++
		}
		if got[false] > 0 != test.plain || got[true] > 0 != test.other {
			t.Errorf("%+v: %d without and %d with a property", test.c, got[false], got[true])
		}
	}
}

// TestUnknownFlavour: if nothing enables server GC, CoreCLR has workstation GC; if not everything
// can be read, it may have server GC.
func TestUnknownFlavour(t *testing.T) {
	config, err := ParseConfig("app.runtimeconfig.json", []byte(`{"runtimeOptions": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		c    Configuration
		want string // note of the default of GCHeapCount; "-": it has none
	}{
		{Configuration{Major: 3, Variables: map[string]string{}, Config: config}, "-"},
		{Configuration{Major: 3, Variables: map[string]string{"COMPlus_gcServer": "1"}, Config: config}, ""},
		{Configuration{Major: 3, Variables: map[string]string{}}, "-"}, // nor is it known whether it is set
		{Configuration{Major: 3, Config: config}, "-"},
		{Configuration{Major: 8, NativeAOT: true, Variables: map[string]string{}}, "with server GC"},
		{Configuration{Major: 8, NativeAOT: true, Variables: map[string]string{"DOTNET_gcServer": "1"}}, "with server GC"},
		{Configuration{Major: 8, NativeAOT: true, Variables: map[string]string{"DOTNET_gcServer": "0"}}, "-"},
	} {
		note := "-"
		for _, f := range Examine(&gclog.Process{}, Heaps{}, &test.c, Sources{}).Default {
			if f.Name == "GCHeapCount" {
				note = f.Note
			}
		}
		if note != test.want {
			t.Errorf("%+v: %q, want %q", test.c, note, test.want)
		}
	}
}

// TestReported: what the runtime reports, and how that is interpreted.
func TestReported(t *testing.T) {
	p := &gclog.Process{Server: gclog.Yes, HasLimits: true, Limits: clr.GCSettings{HighMemoryPercent: 128, HardLimit: ^uint64(0)}}
	r := Examine(p, Heaps{Latest: 1, Counts: map[int]int{1: 41, 2: 36}, Adapted: true}, nil, Sources{Heaps: "collections"})
	want := []Fact{
		{"gcServer", "on", "", ""},
		{"GCHeapCount", "1", "collections", "in the latest collection; 2 in 36 of 77"},
		{"GCDynamicAdaptationMode", "1", "collections", "DATAS"},
		{"GCHeapHardLimit", "18446744073709551615", "", "more than any machine has: no effective limit"},
		{"GCHighMemPercent", "99", "", "the runtime reports 128 and treats it as 99"},
		{"GCLargePages", "off", "", ""},
		{"GCNoAffinitize", "off", "", ""},
	}
	if diff := cmp.Diff(want, r.InForce); diff != "" {
		t.Error(diff)
	}
	if p.Limits = (clr.GCSettings{}); !slices.Contains(Examine(p, Heaps{}, &Configuration{Major: 10, Variables: map[string]string{}, Config: &Config{}}, Sources{}).Default, Fact{Name: "GCHeapHardLimit", Value: "none"}) {
		t.Error("a limit of 0 is none, also in a container")
	}
}

// TestLargePages: a switch up to .NET 10, a number since, of which the runtime reports only that it is
// not 0.
func TestLargePages(t *testing.T) {
	for _, test := range []struct {
		version, text string // of the runtime, and of the variable; "-": what is set is unknown
		major         int
		bits          uint32
		set, inForce  string
	}{
		{"10.0.14", "2", 10, clr.SettingLargePages, "on", "on"},
		{"10.0.14", "0", 10, 0, "off", "off"},
		{"11.0.0", "2", 11, clr.SettingLargePages, "2", "2"},
		{"11.0.0", "1", 11, clr.SettingLargePages, "1", "1"},
		{"11.0.0", "0", 11, 0, "0", "0"},
		{"11.0.0", "2", 11, 0, "2", "0"}, // without a hard limit
		{"11.0.0", "-", 11, clr.SettingLargePages, "", "not 0"},
		{"", "-", 0, clr.SettingLargePages, "", "on"},
	} {
		p := &gclog.Process{RuntimeVersion: test.version, HasLimits: true, Limits: clr.GCSettings{Bits: test.bits}}
		c := &Configuration{Major: test.major, Variables: map[string]string{"DOTNET_GCLargePages": test.text}}
		if test.text == "-" {
			c = nil
		}
		r := Examine(p, Heaps{}, c, Sources{})
		set, inForce := "", ""
		for _, v := range r.Set {
			set = v.Value
		}
		for _, f := range r.InForce {
			if f.Name == "GCLargePages" {
				inForce = f.Value
			}
		}
		if unset := Examine(&gclog.Process{}, Heaps{}, &Configuration{Major: test.major, Variables: map[string]string{}, Config: &Config{}}, Sources{}); test.major > 0 {
			want := map[bool]string{false: "off", true: "0"}[test.major >= 11]
			if !slices.Contains(unset.Default, Fact{Name: "GCLargePages", Value: want}) {
				t.Errorf("%s: the default is not %s", test.version, want)
			}
		}
		if set != test.set || inForce != test.inForce {
			t.Errorf("%+v: set %q, in effect %q", test, set, inForce)
		}
	}
}

// TestThreads: there is one thread for each heap unless DATAS changes the number of heaps.
func TestThreads(t *testing.T) {
	for _, test := range []struct {
		set  map[string]string
		want bool
	}{
		{map[string]string{"DOTNET_GCHeapCount": "10"}, true},
		{map[string]string{"DOTNET_GCDynamicAdaptationMode": "0"}, true},
		{map[string]string{}, false},
	} {
		r := Examine(&gclog.Process{Server: gclog.Yes}, Heaps{Latest: 2}, &Configuration{Major: 10, Variables: test.set}, Sources{Heaps: "threads"})
		got := false
		for _, f := range r.InForce {
			got = got || f == Fact{"GCHeapCount", "2", "threads", ""}
		}
		if got != test.want {
			t.Errorf("%v: %+v", test.set, r.InForce)
		}
	}
}

// TestNotes: what people may not expect of settings that take effect.
func TestNotes(t *testing.T) {
	for _, test := range []struct{ server, name, text, want string }{
		{"on", "DOTNET_GCHeapCount", "10", "variables are hexadecimal: it is 0x10; the number of processors is the maximum"},
		{"off", "DOTNET_gcServer", "1", "this is workstation GC anyway: server GC requires two processors"},
		{"on", "DOTNET_GCHighMemPercent", "80", "variables are hexadecimal: it is 0x80; more than 99 is treated as 99"},
	} {
		set, _ := (&Configuration{Major: 10, Server: test.server, Variables: map[string]string{test.name: test.text}}).Resolve()
		if len(set) != 1 || set[0].Note != test.want {
			t.Errorf("%s=%s: %+v, want %q", test.name, test.text, set, test.want)
		}
	}
	set, _ := (&Configuration{Major: 10, Server: "on", Variables: map[string]string{"DOTNET_GCNoAffinitize": "0", "DOTNET_GCHeapHardLimit": "20000000"}}).Resolve()
	if len(set) != 2 || set[0].Note != "a hard limit turns it on anyway" {
		t.Errorf("%+v", set)
	}
}
