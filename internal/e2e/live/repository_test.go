//go:build linux

package live

import (
	"encoding/json"
	"errors"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
)

// repositorys starts the load program of the repository, which every checkout has.
func repositorys(t *testing.T, args ...string) *gcload.Process {
	t.Helper()
	r, err := gcload.FromRepository()
	if errors.Is(err, gcload.ErrPlatform) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Start(program.SocketDir(t), "wks", nil, append(args, "--quiet")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// outputOf runs gclog.
func outputOf(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "gclog", args...)
	cmd.Stderr = testOutput{t}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("gclog %q: %v", args, err)
	}
	return out
}

// TestRepositoryVerdict: the verdict about a program that calls GC.Collect all the time.
func TestRepositoryVerdict(t *testing.T) {
	t.Parallel()
	p := repositorys(t, "scenario", "induced")
	log := filepath.Join(t.TempDir(), "gc.json")
	outputOf(t, "attach", strconv.Itoa(p.PID), "--for", "5s", "--timeout", "2m", "-o", log)
	var s struct {
		Verdict struct{ GC, Cause, Text string }
	}
	if err := json.Unmarshal(outputOf(t, "summary", log, "-f", "json"), &s); err != nil {
		t.Fatal(err)
	}
	if v := s.Verdict; v.GC != "yes" || v.Cause != "induced" {
		t.Errorf("%+v", v)
	}
}

// TestRepositoryProfile: the shares of the types that a program allocates are those that it has counted.
func TestRepositoryProfile(t *testing.T) {
	t.Parallel()
	p := repositorys(t, "alloc")
	recording := filepath.Join(t.TempDir(), "alloc.nettrace")
	outputOf(t, "record", strconv.Itoa(p.PID), "--stacks", "--for", "3s", "--timeout", "2m", "-o", recording)
	line, err := p.Send("alloc")
	if err != nil {
		t.Fatal(err)
	}
	var account struct {
		Sites []struct {
			Type  string
			Bytes float64
		}
	}
	if err := json.Unmarshal(line.Text, &account); err != nil {
		t.Fatal(err)
	}
	counted, all := map[string]float64{}, 0.0
	for _, s := range account.Sites {
		name := s.Type
		if short, ok := map[string]string{"System.Byte[]": "byte[]", "System.String": "string"}[name]; ok {
			name = short
		}
		counted[name] += s.Bytes
		all += s.Bytes
	}
	var profile struct {
		Rows []struct {
			Name  string
			Share float64
			Low   float64 `json:"share_low"`
			High  float64 `json:"share_high"`
		}
	}
	if err := json.Unmarshal(outputOf(t, "alloc", recording, "-f", "json"), &profile); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, r := range profile.Rows {
		bytes, known := counted[r.Name]
		if !known {
			continue
		}
		found++
		// Three times the interval of 95 % is never left by chance.
		if off := math.Abs(r.Share - bytes/all); off > 3*max(r.High-r.Share, r.Share-r.Low) {
			t.Errorf("%s has a share of %v (%v to %v), the program has counted %v", r.Name, r.Share, r.Low, r.High, bytes/all)
		}
	}
	if found != len(counted) || found == 0 {
		t.Errorf("%d of %d types: %s", found, len(counted), line.Text)
	}
}
