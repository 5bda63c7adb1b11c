package attach

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/session"
)

// TestFactsOfLibrary: of a process that has loaded a runtime's library, the runtime's kind is known,
// the version of one that is too old to report it, and the settings of one that reports them.
func TestFactsOfLibrary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Microsoft.NETCore.App", "3.1.32", "libcoreclr.so")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("not really"), 0o600)); err != nil {
		t.Fatal(err)
	}
	library, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer library.Close()
	mapped, err := syscall.Mmap(int(library.Fd()), 0, 1, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(mapped) }()
	for reported, want := range map[string]gclog.Process{
		"":       {RuntimeVersion: "3.1.32"},
		"8.0.1":  {RuntimeVersion: "8.0.1"},
		"10.0.1": {RuntimeVersion: "10.0.1", Limits: staged, HasLimits: true, Concurrent: gclog.Yes},
	} {
		synctest.Test(t, func(t *testing.T) {
			target := onStage(t, fakeruntime.Config{Version: reported}, func(x *stage) {
				x.untilStopped()
				x.settings()
			})
			target.Started, target.Environ = time.Now().Add(-time.Hour), map[string]string{}
			p, err := Facts(t.Context(), target)
			if err != nil && !session.IsUnknownCommand(err) || session.IsUnknownCommand(err) != (reported == "") {
				t.Error(err)
			}
			if p.Flavor != gclog.FlavorCoreCLR || p.RuntimeVersion != want.RuntimeVersion || p.Limits != want.Limits || p.HasLimits != want.HasLimits || p.Concurrent != want.Concurrent {
				t.Errorf("%q: it is %+v, want %+v", reported, p, want)
			}
		})
	}
}
