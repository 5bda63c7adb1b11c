//go:build linux

package hostile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/gclog/gclog/internal/testing/evidence"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// An attack is a script of testdata/hostile, or one case of it. The script says in comments of its
// first lines what gclog promises, how long it takes, and what it needs. It prints what it has
// measured behind "figure:", and each promise that was not kept behind "broken:".
type attack struct {
	name    string // of the script, and the case
	script  string // path
	kind    string // the case: its argument
	promise string
	seconds int
	needs   []string // programs
	runtime string   // of the shared folder
	timed   bool     // the promise is about time, which a loaded machine may not have
}

// The environment variable that selects what TestHostile runs: everything, or what fits into a
// minute. Two attacks run at a time.
const (
	variable    = "GCLOG_HOSTILE"
	partSeconds = 2 * 60
	together    = 2
)

// TestHostile runs each attack in namespaces of its own, and writes a table to bin/hostile.txt.
func TestHostile(t *testing.T) {
	list := attacks(t)
	switch os.Getenv(variable) {
	case "all":
	case "part":
		seed := extent.Seed(t)
		list = part(list, seed)
		t.Logf("seed %d: %d attacks", seed, len(list))
	default:
		t.Skipf("make hostile (%s=all)", variable)
	}
	shared := recordings.Find()
	switch {
	case shared == "":
		t.Skip("no folder of shared recordings: set GCLOG_SHARED to its path")
	case !program.IsRoot():
		t.Skip("processes of other users need root")
	case !program.PIDNamespaceWorks():
		t.Skip("no pid namespace can be made")
	}
	gclog := program.Build(t)
	results := make([]result, len(list))
	seats := make(chan struct{}, together)
	t.Run("attacks", func(t *testing.T) {
		for i := range list {
			t.Run(list[i].name, func(t *testing.T) {
				t.Parallel()
				seats <- struct{}{}
				defer func() { <-seats }()
				results[i].run(t, &list[i], gclog, filepath.Join(shared, "hostile"))
			})
		}
	})
	if err := os.WriteFile(filepath.Join("bin", "hostile.txt"), table(list, results), 0o644); err != nil {
		t.Error(err)
	}
}

// attacks lists the attacks of all scripts.
func attacks(t *testing.T) (list []attack) {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join(recordings.Root(), "testdata", "hostile", "*.sh"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no attacks: %v", err)
	}
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head := header(string(text))
		name := strings.TrimSuffix(filepath.Base(path), ".sh")
		seconds, err := strconv.Atoi(head["seconds"])
		if err != nil || head["promise"] == "" {
			t.Fatalf("%s does not say what it promises, or how long it takes", path)
		}
		a := attack{name: name, script: path, promise: head["promise"], seconds: seconds, needs: strings.Fields(head["needs"]), runtime: head["runtime"], timed: head["timed"] != ""}
		kinds := strings.Fields(head["cases"])
		if len(kinds) == 0 {
			list = append(list, a)
		}
		for _, kind := range kinds {
			a.kind, a.name = kind, name+"/"+kind
			list = append(list, a)
		}
	}
	return list
}

var headerLine = regexp.MustCompile(`(?m)^# (\w+): (.*)$`)

func header(script string) map[string]string {
	head := map[string]string{}
	for _, m := range headerLine.FindAllStringSubmatch(script, -1) {
		head[m[1]] = m[2]
	}
	return head
}

// part selects attacks that take about a minute, and judge no time.
func part(list []attack, seed uint64) (selected []attack) {
	r := rand.New(rand.NewPCG(seed, 0))
	left := partSeconds
	for _, i := range r.Perm(len(list)) {
		if !list[i].timed && list[i].seconds <= left {
			selected = append(selected, list[i])
			left -= list[i].seconds
		}
	}
	slices.SortStableFunc(selected, func(a, b attack) int { return b.seconds - a.seconds }) // the long ones first: they run side by side
	return selected
}

// A result is what came of an attack.
type result struct {
	ran     bool
	figures []string
	broken  []string
}

func (r *result) run(t *testing.T, a *attack, gclog, scripts string) {
	program.Needs(t, append(a.needs, "bash", "setpriv", "ip")...)
	rt := ""
	if a.runtime != "" {
		load, err := gcload.SharedNamed(a.runtime)
		if err != nil || load == nil {
			t.Skipf("no runtime %s: %v", a.runtime, err)
		}
		rt = filepath.Dir(load.Dir())
	}
	r.ran = true
	work := program.SocketDir(t)
	evidence.Keep(t, work)
	cmd := exec.Command("unshare", "--pid", "--mount", "--net", "--fork", "--kill-child", "--mount-proc", "bash", a.script, a.kind)
	cmd.Env = append(os.Environ(), "GCLOG="+gclog, "WORK="+work, "RT="+rt, "HOSTILE="+scripts, "PYTHON="+program.Python(t), "GCLOG_CONTROL__SOCKET=", "NO_COLOR=1")
	if os.Getenv(variable) == "all" {
		cmd.Env = append(cmd.Env, "TIMES=1")
	}
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "figure: "); ok {
			r.figures = append(r.figures, text)
		}
		if text, ok := strings.CutPrefix(line, "broken: "); ok {
			r.broken = append(r.broken, text)
		}
	}
	if err != nil {
		r.broken = append(r.broken, fmt.Sprintf("the attack failed: %v", err))
	}
	if len(r.figures) == 0 {
		r.broken = append(r.broken, "the attack has measured nothing")
	}
	if len(r.broken) > 0 {
		t.Errorf("%s\n%s\n%s", a.promise, strings.Join(r.broken, "\n"), out)
	}
}

// table returns what came of all attacks.
func table(list []attack, results []result) []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ATTACK\tPROMISE\tFIGURE\tVERDICT")
	for i := range list {
		verdict := "kept"
		switch r := &results[i]; {
		case !r.ran:
			verdict = "not run"
		case len(r.broken) > 0:
			verdict = "BROKEN: " + strings.Join(r.broken, "; ")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", list[i].name, list[i].promise, strings.Join(results[i].figures, "; "), verdict)
	}
	_ = w.Flush()
	return b.Bytes()
}
