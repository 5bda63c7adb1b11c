package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/session"
)

// TestEnvironmentBounded: of an environment of the maximum size only variables that matter are
// kept, and variables longer than the limit are skipped.
func TestEnvironmentBounded(t *testing.T) {
	variables := []string{"SECRET=x", "OTEL_LONG=" + strings.Repeat("x", 1<<20), "DOTNET_gcServer=1"}
	for i := range 10_000 {
		variables = append(variables, fmt.Sprintf("DOTNET_%d=%s", i, strings.Repeat("x", 30)))
	}
	variables = append(variables, make([]string, 50_000)...)
	r := ipc.Serve(t, ipc.Send(ipc.Environment(variables...)))
	got, err := (&host.Target{Client: session.Client{Dial: r.Dial}}).Environment(t.Context())
	if err != nil || got["DOTNET_gcServer"] != "1" {
		t.Fatalf("%d variables, error %v", len(got), err)
	}
	size := 0
	for name, value := range got {
		size += len(name) + len(value)
		if !strings.HasPrefix(name, "DOTNET_") {
			t.Errorf("%s is kept", name)
		}
	}
	if size > 64<<10 {
		t.Errorf("%d bytes are kept", size)
	}
}

// TestEnvironmentLimits: variables are kept that concern .NET or show what a process belongs to,
// within the limits for each and for all together.
func TestEnvironmentLimits(t *testing.T) {
	ask := func(variables ...string) map[string]string {
		t.Helper()
		r := ipc.Serve(t, ipc.Send(ipc.Environment(variables...)))
		got, err := (&host.Target{Client: session.Client{Dial: r.Dial}}).Environment(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, name := range []string{
		"TMPDIR", "HOSTNAME", "POD_NAME", "POD_NAMESPACE", "KUBERNETES_SERVICE_HOST", "NEW_RELIC_APP_NAME", "GCLOG_", "GCLOG_IGNORE",
		"OTEL_SERVICE_NAME", "ELASTIC_APM_SERVICE_NAME", "DD_SERVICE", "DD_VERSION", "DOTNET_gcServer", "dotnet_gcserver", "COMPlus_GCgen0size",
		"complus_", "GCHeapCount", "gc", "UOHWaitMSL", "System.GC.Server", "system",
	} {
		if got := ask("A=b", name+"=1=2", "B=c"); len(got) != 1 || got[name] != "1=2" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"", "PATH", "tmpdir", "OTEL", "gclog_x_", "g", "dotnet", "DD_API_KEY", "AWS_SECRET", "MY_DOTNET_X", "syste", "otel_x"} {
		if got := ask(name+"=1", name); len(got) != 0 && name != "gclog_x_" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := ask("OTEL_A=first", "OTEL_A=second", "OTEL_B"); len(got) != 1 || got["OTEL_A"] != "first" {
		t.Errorf("of two the first counts: %q", got)
	}
	// As it is sent, a variable may have 8 KB: two bytes for each unit, and a zero.
	longest := "OTEL_A=" + strings.Repeat("x", 4096-1-len("OTEL_A="))
	if got := ask(longest, longest+"y", "OTEL_B=1"); len(got) != 2 || "OTEL_A="+got["OTEL_A"] != longest || got["OTEL_B"] != "1" {
		t.Errorf("%d variables are kept, one of %d bytes", len(got), len(got["OTEL_A"]))
	}
	if got := ask("OTEL_A="+longest, "OTEL_B=1"); len(got) != 1 || got["OTEL_B"] != "1" {
		t.Errorf("%d variables are kept, one of %d bytes", len(got), len(got["OTEL_A"]))
	}
	var many []string
	for i := range 16 {
		many = append(many, fmt.Sprintf("OTEL_%02d=%s", i, strings.Repeat("x", 4000-8)))
	}
	last := "OTEL_Z=" + strings.Repeat("x", 64<<10-16*4000-7)
	if got := ask(append(many, last+"x", "OTEL_X=1")...); len(got) != 17 || got["OTEL_X"] != "1" {
		t.Errorf("more than there may be: %d variables", len(got))
	}
	if got := ask(append(many, last, "OTEL_X=1")...); len(got) != 17 || got["OTEL_Z"] == "" {
		t.Errorf("as much as there may be: %d variables", len(got))
	}
	if got := ask(strings.Repeat("x", (4<<20-4-4-2)/2)); len(got) != 0 {
		t.Errorf("an environment of 4 MB: %q", got)
	}
}
