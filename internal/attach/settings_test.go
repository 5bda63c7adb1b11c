package attach

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/gcsettings"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// staged are the settings that a stage sends.
var staged = clr.GCSettings{
	HardLimit: 300 << 20, LOHThreshold: 85_000, PhysicalMemoryConfig: 1 << 30, Gen0MinBudget: 256 << 10, Gen0MaxBudget: 6 << 20,
	HighMemoryPercent: 90, Bits: clr.SettingConcurrent,
}

// TestSettings: a session that ends at once yields the settings. What it does not contain stays
// as it was.
func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		reports     func(*stage)
		known, want gclog.Process
	}{
		"sent": {
			(*stage).settings,
			gclog.Process{RuntimeVersion: "9.0.1", Server: gclog.Yes, Concurrent: gclog.No},
			gclog.Process{RuntimeVersion: "9.0.1", Server: gclog.Yes, Concurrent: gclog.Yes, Limits: staged, HasLimits: true},
		},
		"sent with the version": {
			(*stage).runtimeInfo,
			gclog.Process{},
			gclog.Process{RuntimeVersion: "9.0.7", Server: gclog.Yes, ServerFrom: gclog.EvidenceReported, Concurrent: gclog.No},
		},
		"the version is known": {
			(*stage).runtimeInfo,
			gclog.Process{RuntimeVersion: "9.0.8-rc.1", Server: gclog.No},
			gclog.Process{RuntimeVersion: "9.0.8-rc.1", Server: gclog.Yes, ServerFrom: gclog.EvidenceReported, Concurrent: gclog.No},
		},
		"not sent": {
			func(*stage) {},
			gclog.Process{RuntimeVersion: "9.0.1", Server: gclog.No, Concurrent: gclog.Yes},
			gclog.Process{RuntimeVersion: "9.0.1", Server: gclog.No, Concurrent: gclog.Yes},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				target := onStage(t, fakeruntime.Config{Version: "10.0.1", Log: func(s string) { asked = append(asked, s) }}, func(x *stage) {
					x.untilStopped()
					c.reports(x)
				})
				p := c.known
				began := time.Now()
				if err := Settings(t.Context(), target, &p); err != nil {
					t.Error(err)
				}
				if !reflect.DeepEqual(p, c.want) {
					t.Errorf("it is %+v\nwant %+v", p, c.want)
				}
				if took := time.Since(began); took > 100*time.Millisecond {
					t.Errorf("it took %v", took)
				}
				// It asks for as little as it can, with the settings at its end.
				if want := "request 0x0206 buffer=1 format=1 rundown=1 stacks=false Microsoft-Windows-DotNETRuntime:0x1:4"; asked[0] != want {
					t.Errorf("asked %s, want %s", asked[0], want)
				}
			})
		})
	}
}

// TestSettingsLate: a session that does not end is waited for until the time limit.
func TestSettingsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := onStage(t, fakeruntime.Config{Version: "9.0.1"}, func(x *stage) {
			x.untilStopped()
			x.settings()
			<-x.Over
		})
		var p gclog.Process
		began := time.Now()
		if err := Settings(t.Context(), target, &p); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); !about(took, 3*time.Second) {
			t.Errorf("it took %v, want %v", took, 3*time.Second)
		}
	})
}

// A slowConn delivers what it reads a second late.
type slowConn struct{ net.Conn }

func (c slowConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	time.Sleep(time.Second)
	return n, err
}

// TestSettingsAnswered: the connection is not closed before the request was answered, even if the
// stream ends earlier.
func TestSettingsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := onStage(t, fakeruntime.Config{Version: "10.0.1"}, (*stage).untilStopped)
		dial, dials := target.Dial, 0
		target.Dial = func(ctx context.Context) (net.Conn, error) {
			conn, err := dial(ctx)
			if dials++; dials == 2 {
				return slowConn{conn}, err
			}
			return conn, err
		}
		began := time.Now()
		if err := Settings(t.Context(), target, &gclog.Process{}); err != nil || time.Since(began) < time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// TestComplete: a runtime is asked for its settings if its version reports them, and again while
// its GC may not be initialized yet.
func TestComplete(t *testing.T) {
	core := gclog.Process{Cookie: "c", Flavor: gclog.FlavorCoreCLR, RuntimeVersion: "9.0.1"}
	with := func(change func(*gclog.Process)) gclog.Process {
		p := core
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		p       gclog.Process
		age     time.Duration
		reports int64 // the first session in which it reports them
		dead    bool
		asked   int64
	}{
		"an old process":               {core, time.Hour, 1, false, 1},
		"an old one that says nothing": {core, time.Hour, 9, false, 1},
		"a new process":                {core, 0, 1, false, 1},
		"a new one, a moment later":    {core, 0, 3, false, 3},
		"a new one that never tells":   {core, 900 * time.Millisecond, 99, false, 3},
		"a new one that ends":          {core, 0, 99, true, 1},
		".NET 8":                       {with(func(p *gclog.Process) { p.RuntimeVersion = "8.0.9" }), 0, 1, false, 0},
		".NET 10":                      {with(func(p *gclog.Process) { p.RuntimeVersion = "10.0.0" }), 0, 1, false, 1},
		"NativeAOT":                    {with(func(p *gclog.Process) { p.Flavor = gclog.FlavorNativeAOT }), 0, 1, false, 0},
		"one that does not answer":     {with(func(p *gclog.Process) { p.Cookie = "" }), 0, 1, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int64
				target := onStage(t, fakeruntime.Config{Version: "9.0.1"}, func(x *stage) {
					n := asked.Add(1)
					x.untilStopped()
					if n >= c.reports {
						x.settings()
					}
				})
				target.Started = time.Now().Add(-c.age)
				if c.dead {
					target.StartKey++
				}
				p := c.p
				Complete(t.Context(), target, &p)
				if n := asked.Load(); n != c.asked || p.HasLimits != (c.asked > 0 && n >= c.reports) {
					t.Errorf("asked %d times, want %d; it is %+v", n, c.asked, p)
				}
			})
		})
	}
}

// TestAnswersAfterCollecting: CoreCLR does so from .NET 8 to 10, NativeAOT in 10.
func TestAnswersAfterCollecting(t *testing.T) {
	for want, list := range map[bool][]gclog.Process{
		true:  {{Flavor: gclog.FlavorCoreCLR, RuntimeVersion: "8.0.1"}, {Flavor: gclog.FlavorCoreCLR, RuntimeVersion: "10.0.1"}, {Flavor: gclog.FlavorNativeAOT, RuntimeVersion: "10.0.1"}},
		false: {{Flavor: gclog.FlavorCoreCLR, RuntimeVersion: "11.0.0"}, {Flavor: gclog.FlavorNativeAOT, RuntimeVersion: "11.0.0"}, {Flavor: gclog.FlavorCoreCLR, RuntimeVersion: "7.0.1"}, {Flavor: gclog.FlavorCoreCLR}, {Flavor: gclog.FlavorNativeAOT, RuntimeVersion: "9.0.1"}, {}},
	} {
		for _, p := range list {
			if AnswersAfterCollecting(&p) != want {
				t.Errorf("%+v: %v", p, !want)
			}
		}
	}
}

// TestFacts: the answers of a runtime take precedence over what can be seen from outside.
func TestFacts(t *testing.T) {
	const lines = "a program"
	for name, c := range map[string]struct {
		runtime fakeruntime.Config
		process host.Process
		want    gclog.Process
		fails   func(error) bool
	}{
		"it answers": {
			fakeruntime.Config{Version: "8.0.1", Name: "shop", Env: []string{"OTEL_SERVICE_NAME=orders", "DOTNET_gcConcurrent=1"}},
			host.Process{Name: "dotnet", CommandLine: []string{"dotnet", "x"}, User: "u", ContainerID: "abc"},
			gclog.Process{
				Name: "shop", EntryAssembly: "shop", RuntimeVersion: "8.0.1", OS: "Linux", Architecture: "x64", CommandLine: "dotnet x", Service: "orders",
				Concurrent: gclog.Yes, User: "u", ContainerID: "abc",
			},
			nil,
		},
		"nobody shows its command line": {
			fakeruntime.Config{Version: "8.0.1", Name: "shop"},
			host.Process{},
			gclog.Process{Name: "shop", EntryAssembly: "shop", RuntimeVersion: "8.0.1", OS: "Linux", Architecture: "x64", CommandLine: "shop", Service: "shop"},
			nil,
		},
		"its environment can be seen": {
			fakeruntime.Config{Version: "8.0.1", Name: "shop", Env: []string{"OTEL_SERVICE_NAME=wrong", "DOTNET_gcConcurrent=1"}},
			host.Process{CommandLine: []string{lines}, Environ: map[string]string{"OTEL_SERVICE_NAME": "orders", "DOTNET_gcConcurrent": "0"}},
			gclog.Process{
				Name: "shop", EntryAssembly: "shop", RuntimeVersion: "8.0.1", OS: "Linux", Architecture: "x64", CommandLine: lines, Service: "orders", Concurrent: gclog.No,
			},
			nil,
		},
		".NET Core 3.1": {
			fakeruntime.Config{Name: "shop", Env: []string{"OTEL_SERVICE_NAME=orders"}},
			host.Process{Name: "shop", CommandLine: []string{lines}},
			gclog.Process{Name: "shop", CommandLine: lines, Service: "shop"},
			session.IsUnknownCommand,
		},
		"it hangs up": {
			fakeruntime.Config{Version: "8.0.1", Hangup: true},
			host.Process{Name: "shop", CommandLine: []string{lines}},
			gclog.Process{Name: "shop", CommandLine: lines, Service: "shop"},
			func(err error) bool { return err != nil && !session.IsUnknownCommand(err) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := onStage(t, c.runtime, func(*stage) { t.Error("a session has begun") })
				c.process.PID, c.process.StartKey, c.process.UID = target.PID, target.StartKey, 1001
				c.process.Started = time.Now().Add(-time.Hour)
				target.Process = c.process
				p, err := Facts(t.Context(), target)
				if c.fails == nil && err != nil || c.fails != nil && !c.fails(err) {
					t.Error(err)
				}
				if (p.Cookie == "") != (c.fails != nil) {
					t.Errorf("its cookie is %q", p.Cookie)
				}
				want := c.want
				want.UserID = "1001"
				want.Flavor = gclog.FlavorNativeAOT // a process without the library of a runtime
				want.ID, want.StartKey, want.Started, want.Cookie = int64(target.PID), target.StartKey, target.Started, p.Cookie
				if !reflect.DeepEqual(p, want) {
					t.Errorf("it is %+v\nwant %+v", p, want)
				}
			})
		})
	}
}

// TestNames: the names that a user may know a process by, each once.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		p    host.Process
		want []string
	}{
		{host.Process{Name: "dotnet", Executable: "/usr/bin/dotnet", CommandLine: []string{"dotnet", "/srv/shop.dll"}, Environ: map[string]string{"OTEL_SERVICE_NAME": "orders"}}, []string{"shop", "dotnet", "orders"}},
		{host.Process{Name: "worker-thread", Executable: "/srv/shop"}, []string{"worker-thread", "shop"}},
		{host.Process{Name: "shop", Executable: "/srv/shop", Environ: map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "service.name=basket"}}, []string{"shop", "basket"}},
		{host.Process{Name: "shop", Environ: map[string]string{"DD_SERVICE": "shop"}}, []string{"shop"}},
		{host.Process{Name: "qemu-aarch64-st", Executable: "/usr/bin/qemu-aarch64-static", CommandLine: []string{"qemu-aarch64-static", "-L", "/lib64", "srv/shop", "serve"}}, []string{"qemu-aarch64-static", "qemu-aarch64-st", "lib64", "shop"}},
	} {
		if got := Names(&c.p); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

// TestConfiguration: the runtimeconfig.json is found next to the program.
func TestConfiguration(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path+".runtimeconfig.json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const server = `{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "8.0.3"}, "configProperties": {"System.GC.Server": true}}}`
	shop, plain := write("shop", server), write("plain", `{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "6.0.0"}}}`)
	long := write("long", strings.Repeat(" ", 200<<10)+server)
	broken, large := write("broken", "{"), write("large", strings.Repeat(" ", 256<<10)+server)
	for name, c := range map[string]struct {
		process    host.Process
		p          gclog.Process // what is already known
		env        map[string]string
		server     gclog.Known
		concurrent gclog.Known
		version    string
		from       string // the file
	}{
		"beside an assembly":                {process: host.Process{CommandLine: []string{"dotnet", "exec", shop + ".dll", "an argument"}}, server: gclog.Yes, concurrent: gclog.Yes, version: "8.0.3", from: shop},
		"beside an executable":              {process: host.Process{Executable: shop, CommandLine: []string{"shop"}}, server: gclog.Yes, concurrent: gclog.Yes, version: "8.0.3", from: shop},
		"an assembly before the executable": {process: host.Process{Executable: shop, CommandLine: []string{"dotnet", plain + ".dll"}}, server: gclog.No, concurrent: gclog.Yes, version: "6.0.0", from: plain},
		"the next where one is broken":      {process: host.Process{CommandLine: []string{"dotnet", broken + ".dll", filepath.Join(dir, "none.dll"), shop + ".dll"}}, server: gclog.Yes, concurrent: gclog.Yes, version: "8.0.3", from: shop},
		"no more than three":                {process: host.Process{CommandLine: []string{"dotnet", broken + ".dll", filepath.Join(dir, "none.dll"), broken + ".dll", shop + ".dll"}}},
		"a path that is not whole":          {process: host.Process{CommandLine: []string{"dotnet", "shop.dll"}}},
		"no assembly":                       {process: host.Process{CommandLine: []string{"dotnet", shop}}},
		"long":                              {process: host.Process{Executable: long}, server: gclog.Yes, concurrent: gclog.Yes, version: "8.0.3", from: long},
		"too large":                         {process: host.Process{Executable: large}},
		"variables come first":              {process: host.Process{Executable: shop}, env: map[string]string{"DOTNET_gcServer": "0", "DOTNET_gcConcurrent": "0"}, server: gclog.No, concurrent: gclog.No, version: "8.0.3", from: shop},
		"variables alone":                   {env: map[string]string{"DOTNET_gcServer": "1"}, server: gclog.Yes},
		"what is known stays":               {process: host.Process{Executable: shop}, p: gclog.Process{Server: gclog.No, ServerFrom: gclog.EvidenceReported, Concurrent: gclog.No, RuntimeVersion: "8.0.9"}, server: gclog.No, concurrent: gclog.No, version: "8.0.9", from: shop},
		"a NativeAOT program":               {process: host.Process{Executable: shop}, p: gclog.Process{Flavor: gclog.FlavorNativeAOT}, env: map[string]string{"DOTNET_gcServer": "1"}, version: "8.0.3", from: shop},
	} {
		t.Run(name, func(t *testing.T) {
			target := &host.Target{Process: c.process}
			self := alive(t)
			target.PID, target.StartKey = self.PID, self.StartKey
			target.Environ = c.env
			if target.Environ == nil {
				target.Environ = map[string]string{}
			}
			p := c.p
			settingsFromOutside(t.Context(), t.Context(), target, nil, &p)
			if p.Server != c.server || p.Concurrent != c.concurrent || p.RuntimeVersion != c.version {
				t.Errorf("it is %+v", p)
			}
			known := c.p
			got := Configuration(t.Context(), target, &known, false)
			if c.from == "" && got.Config != nil || c.from != "" && (got.Config == nil || got.Config.Path != c.from+".runtimeconfig.json") {
				t.Errorf("its file is %+v, want that of %s", got.Config, c.from)
			}
			if want := gcsettings.Variables(c.env); len(got.Variables) != len(want) || got.NativeAOT != (c.p.Flavor == gclog.FlavorNativeAOT) || got.Windows {
				t.Errorf("it is %+v", got)
			}
			want := 0
			if len(c.version) > 0 {
				want = int(c.version[0] - '0')
			}
			if got.Major != want {
				t.Errorf("it is .NET %d, want %d", got.Major, want)
			}
		})
	}
}

// TestConfigurationOld: a runtime that knows no requests is .NET Core 3 unless its version is
// known, and is not asked for its environment.
func TestConfigurationOld(t *testing.T) {
	asked := 0
	target := &host.Target{Process: alive(t)}
	for old, want := range map[bool]int{true: 3, false: 0} {
		target.Environ = map[string]string{}
		if c := Configuration(t.Context(), target, &gclog.Process{OS: "Windows"}, old); c.Major != want || !c.Windows {
			t.Errorf("it is %+v", c)
		}
		if c := Configuration(t.Context(), target, &gclog.Process{RuntimeVersion: "5.0.1"}, old); c.Major != 5 {
			t.Errorf("it is %+v", c)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		target := onStage(t, fakeruntime.Config{Version: "8.0.1", Env: []string{"DOTNET_gcServer=1"}, Log: func(string) { asked++ }}, nil)
		for old, want := range map[bool]int{true: 0, false: 1} {
			asked = 0
			if c := Configuration(t.Context(), target, &gclog.Process{}, old); asked != want || len(c.Variables) != want {
				t.Errorf("old %v: asked %d times: %+v", old, asked, c)
			}
		}
	})
}

// TestMemoryOf: the memory of the machine comes from the kernel; the limit of a control group
// counts if it is lower.
func TestMemoryOf(t *testing.T) {
	const meminfo = "MemFree:        1 kB\nMemTotal:       16290816 kB\nMemAvailable:   2 kB\n"
	const machine = 16290816 << 10
	for _, c := range []struct {
		meminfo     string
		used, limit uint64
		want        gcsettings.Memory
	}{
		{meminfo, 1, 1 << 30, gcsettings.Memory{Known: true, Machine: machine, Limit: 1 << 30}},
		{meminfo, 5, machine - 1, gcsettings.Memory{Known: true, Machine: machine, Limit: machine - 1}},
		{meminfo, 5, machine, gcsettings.Memory{Known: true, Machine: machine}},
		{meminfo, 5, 0, gcsettings.Memory{Known: true, Machine: machine}},
		{meminfo, 0, 0, gcsettings.Memory{Machine: machine}},
		{"MemFree: 1 kB", 5, 1 << 30, gcsettings.Memory{}},
		{"", 5, 0, gcsettings.Memory{}},
	} {
		if got := memoryOf(c.meminfo, c.used, c.limit); got != c.want {
			t.Errorf("%q, %d of %d: %+v, want %+v", c.meminfo, c.used, c.limit, got, c.want)
		}
	}
}
