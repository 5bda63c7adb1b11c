package gcsettings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVariables: variables that are not the GC's are not returned.
func TestVariables(t *testing.T) {
	got := Variables(map[string]string{
		"DOTNET_gcServer": "1", "COMPlus_GCHeapCount": "2", "DOTNET_GCFoo": "3", "dotnet_gcconcurrent": "0", "GCHeapHardLimit": "4", "DOTNET_BGCSpin": "5",
		"DOTNET_System_GC_Server": "6", "System.GC.Server": "7", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1",
		"DOTNET_TieredPGO": "0", "DOTNET_ROOT": "/usr", "SECRET": "x", "GC": "y", "gcloud_token": "z", "DOTNET_SECRET_GC": "w", "": "v",
	})
	want := map[string]string{
		"DOTNET_gcServer": "1", "COMPlus_GCHeapCount": "2", "DOTNET_GCFoo": "3", "dotnet_gcconcurrent": "0", "GCHeapHardLimit": "4", "DOTNET_BGCSpin": "5",
		"DOTNET_System_GC_Server": "6", "System.GC.Server": "7",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if Variables(nil) != nil {
		t.Error("an environment that cannot be read is not an empty one")
	}
}

// TestReading: how runtimes interpreted these texts, and which they rejected.
func TestReading(t *testing.T) {
	const (
		server = "gcServer"
		limit  = "GCHeapHardLimit"
	)
	for _, test := range []struct {
		variable, text string
		strict         bool // as NativeAOT reads it
		want           string
		absent         bool
		remark         string // part of the note, or of the reason why it has no effect
	}{
		{server, "1", false, "on", false, ""},
		{server, "0", false, "off", false, ""},
		{server, "2", false, "on", false, ""},
		{server, "0x1", false, "on", false, ""},
		{server, " 1", false, "on", false, ""},
		{server, "1z", false, "on", false, "digits 1 are used"},
		{server, "true", false, "", true, "not a hexadecimal number"},
		{server, "off", false, "", true, "not a hexadecimal number"},
		{server, "false", false, "on", false, "digits fa are used"},
		{server, "disable", false, "on", false, "digits d are used"},
		{server, "", false, "", true, "empty"},
		{server, "10000000000000000", false, "off", false, "64 bits"},
		{server, "1", true, "on", false, ""},
		{server, "0x0", true, "", true, "without 0x"},
		{server, "1z", true, "", true, "NativeAOT"},
		{limit, "6000000", false, "100663296", false, "it is 0x6000000"},
		{limit, "0x6000000", false, "100663296", false, ""},
		{limit, "6000000z", false, "100663296", false, "digits 6000000 are used"},
		{limit, "C8", false, "200", false, ""},
		{limit, "9", false, "9", false, ""},
		{limit, "zz", false, "0", false, "treated as 0"},
		{limit, "-1", false, "18446744073709551615", false, "negative number"},
		{limit, "10000000000000000", false, "0", false, "64 bits"},
		{limit, "0000000000000000010", false, "16", false, ""},
		{limit, "6000000", true, "100663296", false, "it is 0x6000000"},
		{limit, "0x6000000", true, "", true, "without 0x"},
		{limit, "100M", true, "", true, "without 0x"},
		{"GCHeapAffinitizeMask", "10", false, "0x10", false, ""},
		{"GCName", "libclrgc.so", false, "libclrgc.so", false, ""},
	} {
		s, ok := Find(test.variable)
		if !ok {
			t.Fatalf("no setting %s", test.variable)
		}
		read := readVariable
		if test.strict {
			read = readStrict
		}
		r := read(&s, test.text)
		remark := r.why + r.note
		if r.value != test.want || r.absent != test.absent || !strings.Contains(remark, test.remark) || test.remark == "" && remark != "" {
			t.Errorf("%s=%q: %q, absent %v, %q; want %q, %v, %q", test.variable, test.text, r.value, r.absent, remark, test.want, test.absent, test.remark)
		}
	}
}

// TestProperties is TestReading for runtimeconfig.json.
func TestProperties(t *testing.T) {
	for _, test := range []struct{ json, want, remark string }{
		{`"System.GC.Server": true`, "on", ""},
		{`"System.GC.Server": "true"`, "on", ""},
		{`"System.GC.Server": "True"`, "on", ""},
		{`"System.GC.Server": false`, "off", ""},
		{`"System.GC.Server": 1`, "off", "treated as false"},
		{`"System.GC.Server": "1"`, "off", "treated as false"},
		{`"System.GC.HeapHardLimit": 100663296`, "100663296", ""},
		{`"System.GC.HeapHardLimit": "100663296"`, "100663296", ""},
		{`"System.GC.HeapHardLimit": "0x6000000"`, "100663296", ""},
		{`"System.GC.HeapHardLimit": 9007199254740993`, "9007199254740993", ""},
		{`"System.GC.HeapHardLimit": "100MB"`, "100", "digits 100 are used"},
		{`"System.GC.HeapHardLimit": "many"`, "0", "treated as 0"},
		{`"System.GC.Name": "libclrgc.so"`, "libclrgc.so", ""},
	} {
		config, err := ParseConfig("app.runtimeconfig.json", []byte(`{"runtimeOptions": {"configProperties": {`+test.json+`}}}`))
		if err != nil {
			t.Fatal(err)
		}
		set, ignored := (&Configuration{Config: config, Major: 9, Server: "on"}).Resolve()
		if len(set) != 1 || len(ignored) != 0 {
			t.Errorf("%s: %v set, %v ignored", test.json, set, ignored)
			continue
		}
		if v := set[0]; v.Value != test.want || !strings.Contains(v.Note, test.remark) || test.remark == "" && v.Note != "" || v.From != "app.runtimeconfig.json" {
			t.Errorf("%s: %+v, want %s (%s)", test.json, v, test.want, test.remark)
		}
	}
	if _, err := ParseConfig("app.runtimeconfig.json", []byte("{")); err == nil || !strings.HasPrefix(err.Error(), "app.runtimeconfig.json: ") {
		t.Errorf("of damaged JSON it says %v", err)
	}
}

// TestPrecedence: which of several settings takes effect, and why the others do not.
func TestPrecedence(t *testing.T) {
	type ignored map[string]string // name: part of the reason
	for _, test := range []struct {
		name    string
		c       Configuration
		config  string
		set     map[string]string // name of what takes effect: value
		ignored ignored
	}{
		{
			"DOTNET_ before COMPlus_",
			Configuration{Major: 8, Variables: map[string]string{"DOTNET_gcServer": "0", "COMPlus_gcServer": "1"}},
			"",
			map[string]string{"DOTNET_gcServer": "off"},
			ignored{"COMPlus_gcServer": "DOTNET_gcServer wins"},
		},
		{
			"an empty variable is none",
			Configuration{Major: 8, Variables: map[string]string{"DOTNET_gcServer": "", "COMPlus_gcServer": "1"}},
			"",
			map[string]string{"COMPlus_gcServer": "on"},
			ignored{"DOTNET_gcServer": "empty"},
		},
		{
			"3.1 knows only COMPlus_",
			Configuration{Major: 3, Variables: map[string]string{"DOTNET_gcServer": "1", "COMPlus_gcServer": "0"}},
			"",
			map[string]string{"COMPlus_gcServer": "off"},
			ignored{"DOTNET_gcServer": "since .NET 6, the runtime is .NET Core 3.1: write COMPlus_gcServer"},
		},
		{
			"NativeAOT knows only DOTNET_",
			Configuration{Major: 9, NativeAOT: true, Variables: map[string]string{"COMPlus_gcConcurrent": "0"}},
			"",
			map[string]string{},
			ignored{"COMPlus_gcConcurrent": "write DOTNET_gcConcurrent"},
		},
		{
			"a variable before the property",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_gcServer": "0"}},
			`"System.GC.Server": true`,
			map[string]string{"DOTNET_gcServer": "off"},
			ignored{"System.GC.Server": "DOTNET_gcServer wins"},
		},
		{
			"the property, where the switch is no number",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_gcServer": "true"}},
			`"System.GC.Server": true`,
			map[string]string{"System.GC.Server": "on"},
			ignored{"DOTNET_gcServer": "not a hexadecimal number"},
		},
		{
			"a number that is none hides the property",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_GCHeapHardLimit": "zz"}},
			`"System.GC.HeapHardLimit": 100663296`,
			map[string]string{"DOTNET_GCHeapHardLimit": "0"},
			ignored{"System.GC.HeapHardLimit": "wins"},
		},
		{
			"workstation GC",
			Configuration{Major: 9, Server: "off", Variables: map[string]string{"DOTNET_GCHeapCount": "2", "DOTNET_GCDynamicAdaptationMode": "1"}},
			"",
			map[string]string{},
			ignored{"DOTNET_GCHeapCount": "only server GC", "DOTNET_GCDynamicAdaptationMode": "only server GC"},
		},
		{
			"workstation GC by configuration",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_gcServer": "0", "DOTNET_GCHeapCount": "2"}},
			"",
			map[string]string{"DOTNET_gcServer": "off"},
			ignored{"DOTNET_GCHeapCount": "only server GC"},
		},
		{
			"server GC",
			Configuration{Major: 9, Server: "on", Variables: map[string]string{"DOTNET_GCHeapCount": "2", "DOTNET_GCDynamicAdaptationMode": "1"}},
			"",
			map[string]string{"DOTNET_GCHeapCount": "2"},
			ignored{"DOTNET_GCDynamicAdaptationMode": "DOTNET_GCHeapCount sets"},
		},
		{
			"processors on Linux",
			Configuration{Major: 9, Server: "on", Variables: map[string]string{"DOTNET_GCHeapAffinitizeMask": "3", "DOTNET_GCHeapAffinitizeRanges": "0-1", "DOTNET_GCCpuGroup": "1"}},
			"",
			map[string]string{"DOTNET_GCHeapAffinitizeRanges": "0-1"},
			ignored{"DOTNET_GCHeapAffinitizeMask": "GCHeapAffinitizeRanges", "DOTNET_GCCpuGroup": "Windows"},
		},
		{
			"processors on Windows",
			Configuration{Major: 9, Server: "on", Windows: true, Variables: map[string]string{"dotnet_gcheapaffinitizemask": "3"}},
			"",
			map[string]string{"DOTNET_GCHeapAffinitizeMask": "0x3"},
			ignored{},
		},
		{
			"tied to none",
			Configuration{Major: 9, Server: "on", Variables: map[string]string{"DOTNET_GCHeapAffinitizeRanges": "0-1", "DOTNET_GCNoAffinitize": "1"}},
			"",
			map[string]string{"DOTNET_GCNoAffinitize": "on"},
			ignored{"DOTNET_GCHeapAffinitizeRanges": "DOTNET_GCNoAffinitize is on"},
		},
		{
			"later versions",
			Configuration{Major: 5, Variables: map[string]string{"COMPlus_GCConserveMemory": "5"}},
			`"System.GC.Gen0MaxBudget": 1048576`,
			map[string]string{},
			ignored{"COMPlus_GCConserveMemory": "since .NET 6, the runtime is .NET 5", "System.GC.Gen0MaxBudget": "since .NET 10"},
		},
		{
			"an unknown version",
			Configuration{Variables: map[string]string{"DOTNET_GCConserveMemory": "5"}},
			"",
			map[string]string{"DOTNET_GCConserveMemory": "5"},
			ignored{},
		},
		{
			"limits",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_GCHeapHardLimit": "A000000", "DOTNET_GCHeapHardLimitPercent": "32", "DOTNET_GCLOHThreshold": "64"}},
			"",
			map[string]string{"DOTNET_GCHeapHardLimit": "167772160"},
			ignored{"DOTNET_GCHeapHardLimitPercent": "DOTNET_GCHeapHardLimit wins", "DOTNET_GCLOHThreshold": "the minimum is 85000"},
		},
		{
			"limits of each heap",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_GCHeapHardLimit": "A000000", "DOTNET_GCHeapHardLimitPercent": "32", "DOTNET_GCHeapHardLimitSOH": "8000000", "DOTNET_GCHeapHardLimitLOHPercent": "20"}},
			"",
			map[string]string{"DOTNET_GCHeapHardLimitSOH": "134217728"},
			ignored{"DOTNET_GCHeapHardLimit": "DOTNET_GCHeapHardLimitSOH", "DOTNET_GCHeapHardLimitPercent": "DOTNET_GCHeapHardLimitSOH", "DOTNET_GCHeapHardLimitLOHPercent": "DOTNET_GCHeapHardLimitSOH wins"},
		},
		{
			"shares of each heap",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_GCHeapHardLimit": "A000000", "DOTNET_GCHeapHardLimitSOHPercent": "20"}},
			"",
			map[string]string{"DOTNET_GCHeapHardLimitSOHPercent": "32"},
			ignored{"DOTNET_GCHeapHardLimit": "DOTNET_GCHeapHardLimitSOHPercent"},
		},
		{
			"only for DATAS",
			Configuration{Major: 10, Server: "on", Variables: map[string]string{"DOTNET_GCDynamicAdaptationMode": "0", "DOTNET_GCDTargetTCP": "5"}},
			"",
			map[string]string{"DOTNET_GCDynamicAdaptationMode": "0"},
			ignored{"DOTNET_GCDTargetTCP": "only DATAS uses it: DOTNET_GCDynamicAdaptationMode is 0"},
		},
		{
			"DATAS with segments",
			Configuration{Major: 9, Server: "on", Segments: true, Variables: map[string]string{"DOTNET_GCDynamicAdaptationMode": "1"}},
			"",
			map[string]string{},
			ignored{"DOTNET_GCDynamicAdaptationMode": "segments GC cannot adapt"},
		},
		{
			"names in the wrong place",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_System_GC_Server": "1", "System.GC.HeapHardLimit": "1", "DOTNET_System_GC_Nothing": "1"}},
			`"GCgen0MaxBudget": 400000, "gcServer": true, "DOTNET_GCgen0size": 4`,
			map[string]string{},
			ignored{
				"DOTNET_System_GC_Server": "only in runtimeconfig.json: write DOTNET_gcServer", "System.GC.HeapHardLimit": "write DOTNET_GCHeapHardLimit", "DOTNET_System_GC_Nothing": "the name of a property",
				"GCgen0MaxBudget": "write DOTNET_GCGen0MaxBudget there", "gcServer": "write System.GC.Server", "DOTNET_GCgen0size": "write DOTNET_GCgen0size there",
			},
		},
		{
			"percent in decimal",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_GCHeapHardLimitPercent": "75"}},
			"",
			map[string]string{},
			ignored{"DOTNET_GCHeapHardLimitPercent": "117 percent"},
		},
		{
			"segments",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_GCSegmentSize": "4000000"}},
			"",
			map[string]string{},
			ignored{"DOTNET_GCSegmentSize": "regions"},
		},
		{
			"segments of libclrgc.so",
			Configuration{Major: 9, Segments: true, Variables: map[string]string{"DOTNET_GCSegmentSize": "4000000", "DOTNET_GCRegionSize": "400000", "DOTNET_GCRegionRange": "4000000000"}},
			"",
			map[string]string{"DOTNET_GCSegmentSize": "67108864"},
			ignored{"DOTNET_GCRegionSize": "no regions", "DOTNET_GCRegionRange": "no regions"},
		},
		{
			"the least that is ignored, and not",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_GCHeapHardLimitPercent": "64", "DOTNET_GCLOHThreshold": "14C08"}},
			"",
			map[string]string{"DOTNET_GCLOHThreshold": "85000"},
			ignored{"DOTNET_GCHeapHardLimitPercent": "100 percent is not a limit"},
		},
		{
			"the most that is a limit, and too small for large objects",
			Configuration{Major: 9, Variables: map[string]string{"DOTNET_GCHeapHardLimitPercent": "63", "DOTNET_GCLOHThreshold": "14C07"}},
			"",
			map[string]string{"DOTNET_GCHeapHardLimitPercent": "99"},
			ignored{"DOTNET_GCLOHThreshold": "the minimum is 85000"},
		},
		{
			"NativeAOT has its GC built in",
			Configuration{Major: 9, NativeAOT: true, Variables: map[string]string{"DOTNET_gcServer": "1", "DOTNET_GCName": "libclrgc.so", "DOTNET_GCConserveMemory": "5"}},
			"",
			map[string]string{"DOTNET_GCConserveMemory": "5"},
			ignored{"DOTNET_gcServer": "built with it", "DOTNET_GCName": "built in"},
		},
		{
			"server GC of NativeAOT turned off",
			Configuration{Major: 9, NativeAOT: true, Variables: map[string]string{"DOTNET_gcServer": "0"}},
			"",
			map[string]string{"DOTNET_gcServer": "off"},
			ignored{},
		},
		{
			"misspelt",
			Configuration{Major: 9, Variables: map[string]string{
				"DOTNET_GCFoo": "1", "DOTNET_GCHeapHardLimt": "1", "DOTNET_GCgen0MaxBudget": "1", "dotnet_gcServer": "1", "gcServer": "1", "DOTNET_GCStress": "3",
			}},
			`"System.GC.HeapCont": 2, "System.GC.GCHeapCount": 2, "system.gc.server": true, "System.GC.Gen0Size": 4194304`,
			map[string]string{},
			ignored{
				"DOTNET_GCFoo": "no such setting", "DOTNET_GCHeapHardLimt": "did you mean DOTNET_GCHeapHardLimit?", "DOTNET_GCgen0MaxBudget": "write DOTNET_GCGen0MaxBudget",
				"dotnet_gcServer": "write DOTNET_gcServer", "gcServer": "the prefix is missing: write DOTNET_gcServer",
				"System.GC.HeapCont": "did you mean System.GC.HeapCount?", "System.GC.GCHeapCount": "write System.GC.HeapCount", "system.gc.server": "write System.GC.Server",
				"System.GC.Gen0Size": "use the variable DOTNET_GCgen0size",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.config != "" {
				var err error
				if test.c.Config, err = ParseConfig("app.runtimeconfig.json", []byte(`{"runtimeOptions": {"configProperties": {`+test.config+`}}}`)); err != nil {
					t.Fatal(err)
				}
			}
			set, list := test.c.Resolve()
			got := map[string]string{}
			for _, v := range set {
				got[v.Name] = v.Value
			}
			if diff := cmp.Diff(test.set, got); diff != "" {
				t.Errorf("set: %s", diff)
			}
			for _, x := range list {
				want, ok := test.ignored[x.Name]
				if !ok || !strings.Contains(x.Why, want) {
					t.Errorf("ignored: %s because %s, want %q", x.Name, x.Why, want)
				}
				delete(test.ignored, x.Name)
			}
			for name := range test.ignored {
				t.Errorf("%s is not ignored", name)
			}
		})
	}
}

// TestSwitch: switches from which facts about a process are derived.
func TestSwitch(t *testing.T) {
	c := Configuration{Major: 9, Variables: map[string]string{"DOTNET_gcServer": "1"}}
	if on, known := c.Switch("gcServer"); !on || !known {
		t.Errorf("gcServer: %v, %v", on, known)
	}
	if _, known := c.Switch("gcConcurrent"); known {
		t.Error("gcConcurrent is known")
	}
}

// TestTable: names are unique, and each setting has a description.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Settings() {
		for _, name := range []string{strings.ToLower(s.Variable), s.Property} {
			if name != "" && seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
		if s.About == "" || s.Default == "" || s.Since < 3 || s.Property != "" && !strings.HasPrefix(s.Property, propertyPrefix) || s.PropertySince != 0 && s.PropertySince <= s.Since {
			t.Errorf("%+v", s)
		}
	}
	for _, name := range internals {
		if seen[strings.ToLower(name)] {
			t.Errorf("%s is in both tables", name)
		}
	}
}
