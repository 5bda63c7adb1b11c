package attach

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/gcsettings"
	"github.com/gclog/gclog/internal/host"
)

// Configuration returns what a process was started with: the variables of its GC, and the
// runtimeconfig.json next to its program. old means that the runtime does not know the requests of
// .NET 5 and later.
func Configuration(ctx context.Context, t *host.Target, p *gclog.Process, old bool) *gcsettings.Configuration {
	c := configuration(ctx, t, environment(ctx, t, !old), p)
	if old && c.Major == 0 {
		c.Major = 3
	}
	c.Memory = memory(t)
	return c
}

// memory returns how much memory the machine and the process's container have.
func memory(t *host.Target) gcsettings.Memory {
	r := t.OpenMemory()
	defer r.Close()
	_, used, limit := r.Read()
	b, _ := os.ReadFile("/proc/meminfo")
	return memoryOf(string(b), used, limit)
}

// memoryOf parses /proc/meminfo; used and limit are those of the control group. A limit above the
// machine's memory counts as no limit.
func memoryOf(meminfo string, used, limit uint64) (m gcsettings.Memory) {
	_, total, _ := strings.Cut(meminfo, "MemTotal:")
	total, _, _ = strings.Cut(total, "kB")
	kib, _ := strconv.ParseUint(strings.TrimSpace(total), 10, 54)
	m.Machine = kib << 10
	if limit < m.Machine {
		m.Limit = limit
	}
	m.Known = used > 0 && m.Machine > 0
	return m
}

func configuration(
	ctx context.Context, t *host.Target, env map[string]string, p *gclog.Process,
) *gcsettings.Configuration {
	c := &gcsettings.Configuration{
		Variables: gcsettings.Variables(env), Config: runtimeConfig(ctx, t),
		NativeAOT: p.Flavor == gclog.FlavorNativeAOT, Windows: p.OS == "Windows",
	}
	version := p.RuntimeVersion
	if version == "" && c.Config != nil {
		version = c.Config.Version
	}
	c.Major = gclog.Major(version)
	return c
}

// maxConfig is how many bytes of a runtimeconfig.json are read.
const maxConfig = 256 << 10

// maxPrograms is how many arguments are tried as the program. It is the first one, except for the
// arguments of its host.
const maxPrograms = 3

// runtimeConfig reads the configuration next to the program; nil if there is none.
func runtimeConfig(ctx context.Context, t *host.Target) *gcsettings.Config {
	var candidates []string
	modules := sync.OnceValue(func() []string { return t.Modules(ctx) })
	for _, arg := range t.Process.CommandLine {
		if !strings.HasSuffix(arg, ".dll") || len(candidates) == maxPrograms {
			continue
		}
		if path := loaded(arg, modules); path != "" {
			candidates = append(candidates, strings.TrimSuffix(path, ".dll")+".runtimeconfig.json")
		}
	}
	if t.Executable != "" {
		candidates = append(candidates, t.Executable+".runtimeconfig.json")
	}
	for _, path := range candidates {
		b, err := t.ReadFile(ctx, path, maxConfig)
		if err != nil {
			continue
		}
		if c, err := gcsettings.ParseConfig(path, b); err == nil {
			return c
		}
	}
	return nil
}

// loaded returns the absolute path of a program that is named on a command line, or "" if that is
// unknown. A relative name is that of the module with this name: the program's working directory may
// be another one by now.
func loaded(name string, modules func() []string) string {
	if filepath.IsAbs(name) {
		return name
	}
	end := filepath.Clean(name)
	for strings.HasPrefix(end, "../") {
		end = end[len("../"):]
	}
	for _, path := range modules() {
		if strings.HasSuffix(path, "/"+end) {
			return path
		}
	}
	return ""
}

// settingsByConfiguration fills in settings that are still unknown from the process's
// configuration.
func settingsByConfiguration(ctx context.Context, t *host.Target, env map[string]string, p *gclog.Process) {
	c := configuration(ctx, t, env, p)
	if p.RuntimeVersion == "" && c.Config != nil {
		p.RuntimeVersion = c.Config.Version
	}
	value := func(variable string, otherwise gclog.Known) gclog.Known {
		if on, ok := c.Switch(variable); ok {
			return gclog.KnownBool(on)
		} else if c.Config != nil && !c.NativeAOT {
			return otherwise
		}
		return gclog.Unknown
	}
	if !c.NativeAOT { // a NativeAOT program has one GC kind built in
		p.SetServer(value("gcServer", gclog.No), gclog.EvidenceConfiguration)
	}
	if p.Concurrent == gclog.Unknown {
		p.Concurrent = value("gcConcurrent", gclog.Yes)
	}
}
