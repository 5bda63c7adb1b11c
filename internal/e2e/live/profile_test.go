//go:build linux

package live

import (
	"bytes"
	"encoding/json"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
)

// An allocList is what gclog alloc -f json prints.
type allocList struct {
	Events  uint64 `json:"events"`
	Frames  uint64 `json:"frames"`
	Unnamed uint64 `json:"frames_without_name"`
	Rows    []struct {
		Name  string   `json:"name"`
		Path  []string `json:"path"`
		Share float64  `json:"share"`
		Low   float64  `json:"share_low"`
		High  float64  `json:"share_high"`
		Bytes float64  `json:"bytes"`
	} `json:"rows"`
}

// TestLiveProfileKilled: a process that is killed while it is watched leaves a profile with names.
func TestLiveProfileKilled(t *testing.T) {
	extent.Long(t)
	t.Parallel() // it spends most of its time waiting
	for _, r := range runtimes(t) {
		if r.AOT { // which has no names
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			for bytes := uint64(100 << 20); ; bytes *= 4 { // on a busy machine the sessions begin late
				if x := killedProfile(t, r, bytes); x != nil {
					if x.Frames == 0 || 20*x.Unnamed > x.Frames {
						t.Errorf("%d of %d frames have no name", x.Unnamed, x.Frames)
					}
					return
				}
			}
		})
	}
}

// killedProfile kills a process that is watched when it has allocated so much, and returns its profile, nil if it has
// no events yet.
func killedProfile(t *testing.T, r *gcload.Runtime, allocated uint64) *allocList {
	p, err := r.Start(program.SocketDir(t), "wks", nil, "churn", "--rate", "50", "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	begin, err := p.Mark("begin")
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("gclog", "alloc", strconv.Itoa(p.PID), "--for", "10m", "--by", "path", "-f", "json")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	n := 0
	program.Eventually(t, "the allocations", func() bool {
		n++
		now, err := p.Mark(strconv.Itoa(n))
		return err != nil || now.Allocated > begin.Allocated+allocated
	})
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if stdout.Len() == 0 {
		return nil
	}
	if !strings.Contains(stderr.String(), "killed") {
		t.Errorf("it does not say that the process was killed: %s", stderr.String())
	}
	return decodeAlloc(t, stdout.Bytes())
}

func decodeAlloc(t *testing.T, b []byte) *allocList {
	var x allocList
	if err := json.Unmarshal(b, &x); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return &x
}

// TestLiveProfile: the shares that gclog alloc prints are those that the program counts itself, at least 92 % of them
// within their intervals and all within twice these; on .NET Core 3.1 up to a fifth off.
func TestLiveProfile(t *testing.T) {
	if !everyCell() {
		t.Skip("make live runs it")
	}
	const runs = 4
	within, twice, all := 0, 0, 0
	for _, r := range runtimes(t) {
		if r.AOT || strings.HasPrefix(r.Name, "win") {
			continue
		}
		for range runs {
			for _, s := range liveShares(t, r) {
				off, half := math.Abs(s.share-s.truth), s.half
				if r.Name == "core31" {
					half += 0.1 * s.truth
				}
				all++
				if off <= half {
					within++
				}
				if off <= 2*half {
					twice++
				} else {
					t.Errorf("%s: %s has %.4f ± %.4f, in truth %.4f", r.Name, s.name, s.share, s.half, s.truth)
				}
			}
		}
	}
	t.Logf("%d of %d shares are within their intervals, %d within twice these", within, all, twice)
	if within*100 < all*92 {
		t.Errorf("%d of %d shares are within their intervals", within, all)
	}
}

// A siteShare is what gclog says of a place that allocates, and what the program does.
type siteShare struct {
	name               string
	share, half, truth float64
}

// brackets are the arguments of generics, and lambdas.
var brackets = regexp.MustCompile("<[^>]*>")

func liveShares(t *testing.T, r *gcload.Runtime) (list []siteShare) {
	p, err := r.Start(program.SocketDir(t), "wks", nil, "alloc", "--rate", "100", "--quiet")
	if err != nil {
		t.Skipf("%s has no such mode: %v", r.Name, err)
	}
	defer p.Kill()
	before := sites(t, p)
	out, err := exec.Command("gclog", "alloc", strconv.Itoa(p.PID), "--for", "6s", "--by", "method", "-f", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	x, total := decodeAlloc(t, out), 0.0
	after := sites(t, p)
	for name := range after {
		after[name] -= before[name]
		total += after[name]
	}
	for _, row := range x.Rows {
		name := strings.TrimSuffix(brackets.ReplaceAllString(row.Name, ""), ".")
		if bytes, ok := after[name]; ok {
			list = append(list, siteShare{row.Name, row.Share, (row.High - row.Low) / 2, bytes / total})
			delete(after, name)
		}
	}
	if len(after) > 0 {
		t.Errorf("%s: these methods allocate, too: %v", r.Name, after)
	}
	return list
}

// sites returns what each method has allocated so far, by its name without brackets.
func sites(t *testing.T, p *gcload.Process) map[string]float64 {
	if _, err := p.Send("alloc"); err != nil {
		t.Fatal(err)
	}
	for _, l := range slices.Backward(p.Lines()) {
		if l.Event != "alloc" {
			continue
		}
		var line struct {
			Sites []struct {
				Path  []string `json:"path"`
				Bytes float64  `json:"bytes"`
			} `json:"sites"`
		}
		if err := json.Unmarshal(l.Text, &line); err != nil {
			t.Fatal(err)
		}
		list := map[string]float64{}
		for _, s := range line.Sites {
			name := s.Path[len(s.Path)-1]
			name = strings.NewReplacer("`1", "", "+<>c.<Filter>", ".Filter").Replace(name)
			if !strings.HasSuffix(name, ".Large") { // all of these have an event, but not all are in the time of the profile
				list[name] += s.Bytes
			}
		}
		return list
	}
	t.Fatal("the program has not said what it allocates")
	return nil
}
