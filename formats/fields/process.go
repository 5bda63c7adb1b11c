package fields

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// Settings is the path of the settings of the garbage collector.
const Settings = "dotnet.gc.settings."

// Process returns the facts about a process in the order of json. Those below Settings are in the
// records of a session and in the header of a file, all others in every record. The caller must not
// change them.
func Process() []Fact { return process }

// FactAt returns the index in Process of the fact with this path; -1 if there is none.
func FactAt(path string) int {
	return slices.IndexFunc(process, func(f Fact) bool { return f.JSON == path })
}

// Named returns those of some fields that the DotNet lines of a unified log have, with their names there.
func Named[R any](list []Row[R]) (named []Row[R]) {
	for _, x := range list {
		if name, ok := strings.CutPrefix(x.Unified, "DotNet: "); ok {
			x.Unified = name
			named = append(named, x)
		}
	}
	return named
}

type facts = gclog.Process

var process = concat(instance, environment, runtime, settings)

var instance = []Fact{
	written("process", "", fact("process.pid", "process.pid", Signed, "the pid, as the host sees it", Value[facts]{
		Get: func(p *facts) (uint64, bool) { return uint64(p.ID), true },
		Set: func(p *facts, v uint64) { p.ID = int64(v) },
	})),
	fact("process.entity_id", "", Text, "identifies the instance of the runtime; unknown before .NET 5",
		kept(func(p *facts) *string { return &p.Cookie })),
	written("name", "", fact("process.name", "process.executable.name", Text, "the name of the process",
		kept(func(p *facts) *string { return &p.Name }))),
	fact("process.executable", "process.executable.path", Text, "its executable",
		kept(func(p *facts) *string { return &p.Executable })),
	// A text, because it may exceed the precision of a double.
	written("start_key", "", fact("process.start_key", "", Text,
		"its start in the unit of the kernel: with the pid it identifies the process on its host", Value[facts]{
			Text: func(p *facts) string {
				if p.StartKey == 0 {
					return ""
				}
				return strconv.FormatUint(p.StartKey, 10)
			},
			SetText: func(p *facts, text []byte) bool {
				key, err := strconv.ParseUint(string(text), 10, 64)
				if err == nil {
					p.StartKey = key
				}
				return err == nil
			},
		})),
	written("started", "", fact("process.start", "", Date, "its start", Value[facts]{
		Get: func(p *facts) (uint64, bool) { return uint64(p.Started.UnixNano()), !p.Started.IsZero() },
		Set: func(p *facts, v uint64) {
			if p.Started.IsZero() { // each session computes it anew
				p.Started = time.Unix(0, int64(v)).UTC()
			}
		},
	})),
}

var environment = []Fact{
	fact("service.name", "service.name", Text, "the service that the process belongs to",
		kept(func(p *facts) *string { return &p.Service })),
	fact("service.version", "service.version", Text, "its version",
		kept(func(p *facts) *string { return &p.ServiceVersion })),
	fact("host.name", "host.name", Text, "the host", kept(func(p *facts) *string { return &p.Host })),
	fact("host.hostname", "", Text, "the host", text(func(p *facts) string { return p.Host })),
	fact("host.architecture", "", Text, "its architecture", kept(func(p *facts) *string { return &p.Architecture })),
	fact("host.os.type", "", Text, "its operating system", Value[facts]{
		Text:    func(p *facts) string { return strings.ToLower(p.OS) },
		SetText: kept(func(p *facts) *string { return &p.OS }).SetText,
	}),
	fact("container.id", "container.id", Text, "the container", kept(func(p *facts) *string { return &p.ContainerID })),
	fact("container.name", "container.name", Text, "the name of the container",
		kept(func(p *facts) *string { return &p.ContainerName })),
	fact("orchestrator.type", "", Text, "kubernetes", constant("kubernetes", func(p *facts) bool {
		return p.Namespace != "" || p.Pod != "" || p.PodUID != ""
	})),
	fact("orchestrator.namespace", "k8s.namespace.name", Text, "the Kubernetes namespace",
		kept(func(p *facts) *string { return &p.Namespace })),
	fact("orchestrator.resource.type", "", Text, "pod", constant("pod", func(p *facts) bool {
		return p.Pod != "" || p.PodUID != ""
	})),
	fact("orchestrator.resource.name", "k8s.pod.name", Text, "the pod", kept(func(p *facts) *string { return &p.Pod })),
	fact("orchestrator.resource.id", "k8s.pod.uid", Text, "the UID of the pod",
		kept(func(p *facts) *string { return &p.PodUID })),
}

var runtime = []Fact{
	written("runtime", "", fact("dotnet.runtime.version", "process.runtime.version", Text, "the version of .NET",
		kept(func(p *facts) *string { return &p.RuntimeVersion }))),
	fact("dotnet.runtime.flavor", "", Text, "CoreCLR or NativeAOT", kept(func(p *facts) *string { return &p.Flavor })),
}

// .NET 9 and later report their settings; the first five are also known from collections.
var settings = []Fact{
	written("server", "", fact(Settings+"server", "", Flag, "the process uses server GC", Value[facts]{
		Get: func(p *facts) (uint64, bool) { return bit(p.Server == gclog.Yes), p.Server != gclog.Unknown },
		Set: func(p *facts, v uint64) { p.SetServer(gclog.KnownBool(v != 0), gclog.EvidenceRecorded) },
		Max: 1,
	})),
	written("concurrent", "", fact(Settings+"concurrent", "", Flag, "background collections are enabled", Value[facts]{
		Get: func(p *facts) (uint64, bool) { return bit(p.Concurrent == gclog.Yes), p.Concurrent != gclog.Unknown },
		Set: func(p *facts, v uint64) { p.Concurrent = gclog.KnownBool(v != 0) },
		Max: 1,
	})),
	fact(Settings+"heap_count", "", Number, "the number of heaps that the runtime reported last",
		positive(func(p *facts) *int { return &p.HeapCount })),
	written("processors", "Processors", fact(Settings+"processors", "", Number,
		"the number of processors that the runtime sees",
		positive(func(p *facts) *int { return &p.Processors }))),
	written("library", "", fact(Settings+"library", "", Text, "the file of a standalone GC",
		kept(func(p *facts) *string { return &p.GCLibrary }))),
	written("hard_limit", "HardLimit", limit("hard_limit", Bytes, "the limit of the heap",
		func(s *clr.GCSettings) *uint64 { return &s.HardLimit })),
	limit("loh_threshold", Bytes, "the size from which objects are large",
		func(s *clr.GCSettings) *uint64 { return &s.LOHThreshold }),
	limit("physical_memory_config", Bytes, "the configured physical memory",
		func(s *clr.GCSettings) *uint64 { return &s.PhysicalMemoryConfig }),
	limit("gen0_min_budget", Bytes, "the smallest allocation budget of gen0",
		func(s *clr.GCSettings) *uint64 { return &s.Gen0MinBudget }),
	limit("gen0_max_budget", Bytes, "the largest allocation budget of gen0",
		func(s *clr.GCSettings) *uint64 { return &s.Gen0MaxBudget }),
	limit("high_memory", WholePercent, "the memory load from which the GC collects more aggressively",
		func(s *clr.GCSettings) *uint32 { return &s.HighMemoryPercent }),
	limitBit("large_pages", "the heap uses large pages", clr.SettingLargePages),
	limitBit("no_affinitize", "the threads of server GC are not bound to processors", clr.SettingNoAffinitize),
}

func fact(json, otel string, unit Unit, doc string, v Value[facts]) Fact {
	return Fact{JSON: json, OTel: otel, Unit: unit, Doc: doc, Value: v}
}

// written is a fact that the head of a unified log has too, and rows of csv, if it has a name there.
func written(unified, csv string, f Fact) Fact {
	f.Unified, f.CSV = "DotNet: "+unified, csv
	return f
}

// kept is a text; the first one that is known is kept.
func kept(at func(*facts) *string) Value[facts] {
	return Value[facts]{
		Text: func(p *facts) string { return *at(p) },
		SetText: func(p *facts, text []byte) bool {
			if s := at(p); *s == "" {
				*s = string(text)
			}
			return true
		},
	}
}

// constant is a text that is the same for all processes that have it.
func constant(of string, known func(*facts) bool) Value[facts] {
	return text(func(p *facts) string {
		if known(p) {
			return of
		}
		return ""
	})
}

// limit is a setting that the runtime reports together with all others.
func limit[T integer](name string, unit Unit, doc string, at func(*clr.GCSettings) *T) Fact {
	return fact(Settings+name, "", unit, doc, Value[facts]{
		Get: func(p *facts) (uint64, bool) { return uint64(*at(&p.Limits)), p.HasLimits },
		Set: func(p *facts, v uint64) { *at(&p.Limits), p.HasLimits = T(v), true },
		Max: most[T](),
	})
}

func limitBit(name, doc string, mask uint32) Fact {
	return fact(Settings+name, "", Flag, doc, Value[facts]{
		Get: func(p *facts) (uint64, bool) { return bit(p.Limits.Bits&mask != 0), p.HasLimits },
		Set: func(p *facts, v uint64) {
			p.HasLimits = true
			if p.Limits.Bits &^= mask; v != 0 {
				p.Limits.Bits |= mask
			}
		},
		Max: 1,
	})
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
