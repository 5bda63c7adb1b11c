package formats_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// allOf returns the members of a record by path, except its id.
func allOf(t *testing.T, line string) map[string]string {
	t.Helper()
	_, list := members(t, "record", []byte(line))
	all := map[string]string{}
	for _, m := range list {
		all[m.path] = fmt.Sprint(m.value)
	}
	delete(all, "gclog_doc_id")
	return all
}

// TestJSONFacts: each fact about a process has its member in the record of a session's start, which
// is missing while the fact is unknown; the other members do not change.
func TestJSONFacts(t *testing.T) {
	process := func() gclog.Process {
		p := someone()
		p.OS, p.Processors = "Linux", 8
		p.Limits = clr.GCSettings{}
		p.Limits.HardLimit, p.Limits.LOHThreshold, p.Limits.PhysicalMemoryConfig = 11, 12, 13
		p.Limits.Gen0MinBudget, p.Limits.Gen0MaxBudget, p.Limits.HighMemoryPercent, p.Limits.Bits = 14, 15, 90, clr.SettingLargePages
		return p
	}
	whole := map[string]string{
		"@timestamp": "2026-11-05T10:00:01.000000000Z", "log.level": "info", "message": "attached to process 4711", "ecs.version": "8.17.0",
		"event.kind": "event", "event.category[]": "process", "event.type[]": "info", "event.action": "gc-session-start", "event.module": "dotnet", "event.dataset": "dotnet.gc",
		"process.pid": "4711", "process.entity_id": "1b8a56c0-0000-4000-8000-4a4f5c9e0001", "process.name": "MyApp", "process.executable": "/usr/bin/dotnet",
		"process.start_key": "4242", "process.start": "2026-11-05T09:59:58.250000000Z", "process.uptime": "2",
		"service.name": "shop", "service.version": "1.2.3", "host.name": "node-1", "host.hostname": "node-1", "host.architecture": "x86_64", "host.os.type": "linux",
		"container.id": "0123456789ab", "container.name": "api", "orchestrator.type": "kubernetes", "orchestrator.namespace": "prod",
		"orchestrator.resource.type": "pod", "orchestrator.resource.name": "shop-0", "orchestrator.resource.id": "4f6b5d5e",
		"labels.team": "orders", "labels.app_kubernetes_io/name": "shop",
		"dotnet.runtime.version": "10.0.14", "dotnet.runtime.flavor": "CoreCLR",
		"dotnet.gc.settings.server": "true", "dotnet.gc.settings.concurrent": "false", "dotnet.gc.settings.heap_count": "4", "dotnet.gc.settings.processors": "8", "dotnet.gc.settings.library": "libclrgc.so",
		"dotnet.gc.settings.hard_limit.bytes": "11", "dotnet.gc.settings.loh_threshold.bytes": "12", "dotnet.gc.settings.physical_memory_config.bytes": "13",
		"dotnet.gc.settings.gen0_min_budget.bytes": "14", "dotnet.gc.settings.gen0_max_budget.bytes": "15", "dotnet.gc.settings.high_memory.pct": "0.9000",
		"dotnet.gc.settings.large_pages": "true", "dotnet.gc.settings.no_affinitize": "false",
		"log.logger": "gclog", "gclog.version": "1.0", "gclog.schema": formats.Schema, "gclog.providers": "P", "gclog.session.id": "s",
	}
	for _, c := range []struct {
		name   string
		change func(*gclog.Process, *formats.Options)
		gone   string
		other  map[string]string
	}{
		{"all", func(*gclog.Process, *formats.Options) {}, "", nil},
		{"no cookie", func(p *gclog.Process, _ *formats.Options) { p.Cookie = "" }, "process.entity_id", nil},
		{"no name", func(p *gclog.Process, _ *formats.Options) { p.Name, p.Executable = "", "" }, "process.name process.executable", nil},
		{"no start", func(p *gclog.Process, _ *formats.Options) { p.Started, p.StartKey = time.Time{}, 0 }, "process.start process.start_key", nil},
		{"the first start key", func(p *gclog.Process, _ *formats.Options) { p.StartKey = 1 }, "", map[string]string{"process.start_key": "1"}},
		{"no age", func(p *gclog.Process, _ *formats.Options) { p.UptimeAtSync = 0 }, "process.uptime", nil},
		{"just begun", func(p *gclog.Process, _ *formats.Options) { p.UptimeAtSync = 1 }, "", map[string]string{"process.uptime": "1"}},
		{"no service", func(p *gclog.Process, _ *formats.Options) { p.Service, p.ServiceVersion = "", "" }, "service", nil},
		{"the name of a service only", func(p *gclog.Process, _ *formats.Options) { p.ServiceVersion = "" }, "service.version", nil},
		{"the version of a service only", func(p *gclog.Process, _ *formats.Options) { p.Service = "" }, "service.name", nil},
		{"no host", func(_ *gclog.Process, o *formats.Options) { o.Host = "" }, "host.name host.hostname", nil},
		{"the host of the process", func(p *gclog.Process, o *formats.Options) { p.Host, o.Host = "node-2", "" }, "", map[string]string{"host.name": "node-2", "host.hostname": "node-2"}},
		{"no system", func(p *gclog.Process, _ *formats.Options) { p.OS, p.Architecture = "", "" }, "host.os host.architecture", nil},
		{"no container", func(p *gclog.Process, _ *formats.Options) { p.ContainerID, p.ContainerName = "", "" }, "container", nil},
		{"the id of a container only", func(p *gclog.Process, _ *formats.Options) { p.ContainerName = "" }, "container.name", nil},
		{"the name of a container only", func(p *gclog.Process, _ *formats.Options) { p.ContainerID = "" }, "container.id", nil},
		{"no pod", func(p *gclog.Process, _ *formats.Options) { p.Namespace, p.Pod, p.PodUID = "", "", "" }, "orchestrator", nil},
		{"a namespace only", func(p *gclog.Process, _ *formats.Options) { p.Pod, p.PodUID = "", "" }, "orchestrator.resource", nil},
		{"the name of a pod only", func(p *gclog.Process, _ *formats.Options) { p.Namespace, p.PodUID = "", "" }, "orchestrator.namespace orchestrator.resource.id", nil},
		{"the id of a pod only", func(p *gclog.Process, _ *formats.Options) { p.Namespace, p.Pod = "", "" }, "orchestrator.namespace orchestrator.resource.name", nil},
		{"no labels", func(p *gclog.Process, _ *formats.Options) { p.Labels = nil }, "labels", nil},
		{"no runtime", func(p *gclog.Process, _ *formats.Options) { p.RuntimeVersion, p.Flavor = "", "" }, "dotnet.runtime", nil},
		{"the version of the runtime only", func(p *gclog.Process, _ *formats.Options) { p.Flavor = "" }, "dotnet.runtime.flavor", nil},
		{"the flavor of the runtime only", func(p *gclog.Process, _ *formats.Options) { p.RuntimeVersion = "" }, "dotnet.runtime.version", nil},
		{"no settings", func(p *gclog.Process, _ *formats.Options) {
			p.Server, p.Concurrent, p.HeapCount, p.Processors, p.GCLibrary, p.HasLimits = gclog.Unknown, gclog.Unknown, 0, 0, "", false
		}, "dotnet.gc.settings", nil},
		{"other settings", func(p *gclog.Process, _ *formats.Options) {
			p.Server, p.Concurrent, p.HeapCount, p.Processors, p.Limits.Bits = gclog.No, gclog.Yes, 1, 1, clr.SettingNoAffinitize
		}, "", map[string]string{
			"dotnet.gc.settings.server": "false", "dotnet.gc.settings.concurrent": "true", "dotnet.gc.settings.heap_count": "1", "dotnet.gc.settings.processors": "1",
			"dotnet.gc.settings.large_pages": "false", "dotnet.gc.settings.no_affinitize": "true",
		}},
		{"no session", func(_ *gclog.Process, o *formats.Options) { o.Session = "" }, "gclog.session", nil},
	} {
		p, o := process(), formats.Options{Host: "node-1", Version: "1.0", Session: "s"}
		c.change(&p, &o)
		o.Process = p
		want := maps.Clone(whole)
		for path := range want {
			if slices.ContainsFunc(strings.Fields(c.gone), func(g string) bool { return path == g || strings.HasPrefix(path, g+".") }) {
				delete(want, path)
			}
		}
		maps.Copy(want, c.other)
		head, records := written(t, "json", o, func(w *formats.Writer) { w.Observe(&gclog.Start{At: 1e9, Ticks: 5, Providers: "P"}) })
		if got := allOf(t, records[0]); !maps.Equal(got, want) {
			t.Errorf("%s:\n%v, want\n%v", c.name, got, want)
		}
		checkHeader(t, c.name, []byte(head))
		// The header of a file contains the same, and which file it is.
		got := allOf(t, head)
		want["event.kind"], want["event.action"], want["message"] = "metric", "gc-log-header", "gclog 1.0, file 1 of this session"
		for _, path := range []string{"gclog.providers", "event.category[]", "event.type[]"} {
			delete(want, path)
		}
		delete(got, "gclog_file_id")
		delete(got, "pad")
		if !maps.Equal(got, want) {
			t.Errorf("%s: the head is\n%v, want\n%v", c.name, got, want)
		}
	}
}

// TestJSONHeadLength: a header is as long as shippers need it, whatever it contains, and no longer.
func TestJSONHeadLength(t *testing.T) {
	for n := range 1200 {
		head, _ := written(t, "json", formats.Options{Version: strings.Repeat("x", n)}, func(w *formats.Writer) { w.Observe(&gclog.Start{}) })
		_, pad, _ := strings.Cut(head, `"pad":"`)
		if length := len(head) + 1; length < 1100 || length > 1100 && pad != `"}` {
			t.Fatalf("a head of %d bytes, the end of which is %q", length, pad)
		}
	}
}

// TestJSONBegins tests the records of the start and the end of a session.
func TestJSONBegins(t *testing.T) {
	for _, c := range []struct {
		write func(w *formats.Writer)
		want  map[string]string // message, level and the other members named
	}{
		{func(w *formats.Writer) { w.Observe(&gclog.Start{}) }, map[string]string{"message": "recording of process 4711 begins", "gclog.providers": ""}},
		{func(w *formats.Writer) { w.Observe(&gclog.End{Reason: gclog.EndOfRecording}) }, map[string]string{"message": "recording of process 4711 ends", "log.level": "info", "event.reason": "end-of-recording"}},
		{func(w *formats.Writer) { w.Observe(&gclog.End{Reason: gclog.EndDetached}) }, map[string]string{"message": "session with process 4711 ended: detached", "log.level": "info", "error.message": ""}},
		{func(w *formats.Writer) { w.Observe(&gclog.End{Reason: gclog.EndExited, HasCode: true}) }, map[string]string{
			"message": "session with process 4711 ended: exited with code 0", "log.level": "info", "process.exit_code": "0", "process.exit_signal": "",
		}},
		{func(w *formats.Writer) { w.Observe(&gclog.End{Reason: gclog.EndExited, HasCode: true, ExitCode: 139}) }, map[string]string{
			"message": "session with process 4711 ended: exited with code 139", "log.level": "warn", "process.exit_code": "139", "dotnet.gc.settings.server": "",
		}},
		{func(w *formats.Writer) { w.Observe(&gclog.End{Reason: gclog.EndKilled, Signal: 15}) }, map[string]string{
			"message": "session with process 4711 ended: killed by SIGTERM", "log.level": "warn", "process.exit_code": "", "process.exit_signal": "15",
		}},
		{func(w *formats.Writer) {
			w.Observe(&gclog.End{Reason: gclog.EndStreamError, Message: "why", Process: &gclog.Process{Server: gclog.No, RuntimeVersion: "10.0.15", Cookie: "another"}})
		}, map[string]string{
			"message": "session with process 4711 ended: stream-error", "log.level": "warn", "error.message": "why",
			"dotnet.gc.settings.server": "false", "dotnet.runtime.version": "10.0.15", "dotnet.runtime.flavor": "CoreCLR", "process.entity_id": "1b8a56c0-0000-4000-8000-4a4f5c9e0001",
		}},
	} {
		_, records := written(t, "json", formats.Options{Process: someone()}, c.write)
		got := allOf(t, records[0])
		for path, want := range c.want {
			if got[path] != want {
				t.Errorf("%s is %q, want %q\n\t%s", path, got[path], want, records[0])
			}
		}
	}
	_, records := written(t, "json", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(&gclog.End{Reason: gclog.EndOfLog}) })
	if len(records) > 0 {
		t.Errorf("the end of a log is no fact: %s", records)
	}
}

// TestJSONLongPause tests from which pause on a record is a warning.
func TestJSONLongPause(t *testing.T) {
	for _, c := range []struct {
		long, pause int64
		level       string
	}{{0, 199_999_999, "info"}, {0, 200_000_000, "warn"}, {1, 1, "warn"}, {1, 0, "info"}, {50, 49, "info"}, {50, 50, "warn"}} {
		for _, write := range []func(w *formats.Writer){
			func(w *formats.Writer) { w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Duration: c.pause}}) },
			func(w *formats.Writer) {
				w.Observe(&gclog.GCDetails{Complete: true, Pauses: []gclog.PausePart{{Duration: c.pause}}})
			},
		} {
			_, records := written(t, "json", formats.Options{LongPause: c.long}, write)
			if got := allOf(t, records[0])["log.level"]; got != c.level {
				t.Errorf("a pause of %d ns, long from %d on: %s, want %s", c.pause, c.long, got, c.level)
			}
		}
	}
}
