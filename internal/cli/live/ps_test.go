package live

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/lists"
)

// TestProcessTablesFit: the lists of processes fit the terminal, whatever the names are, and show
// for each process whether it can be attached to.
func TestProcessTablesFit(t *testing.T) {
	started := time.Now().Add(-300 * time.Hour)
	list := []psRow{
		{pid: 7, name: "MyApp", user: "app", runtime: "10.0.14", gc: "workstation", started: started},
		{pid: 4194304, name: strings.Repeat("Contoso.", 20), user: "svc-" + strings.Repeat("x", 40), runtime: "9.0.0-preview.7.24405.7", gc: "server (DATAS)", started: started, commandLine: []string{"dotnet", strings.Repeat("y", 300)}},
		{pid: 12345, name: strings.Repeat("注文処理", 10), user: "\x1b[31mroot\u202e", problem: "process 12345 does not answer: it is stopped; resume it with kill -CONT 12345: ProcessInfo3: no answer within 5s", cause: "stopped"},
		{pid: 99, name: "a\nb\tc", waits: true, problem: "waits"},
	}
	tables := map[string]func(w io.Writer, width int) error{
		"ps":     lists.TableOf(psNarrow, list).PrintPlain,
		"doctor": lists.TableOf(verdictColumns, list).PrintPlain,
	}
	for name, print := range tables {
		for _, width := range []int{0, 60, 80, 120, 200} {
			var b strings.Builder
			if err := print(&b, width); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := screen.Width(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
					t.Errorf("%s: a line of %d on a terminal of %d: %s", name, n, width, line)
				}
			}
			if strings.ContainsAny(b.String(), "\x1b\u202e\t") {
				t.Errorf("%s: what a terminal acts upon: %q", name, b.String())
			}
			for _, pid := range []string{"      7  ", "4194304  ", "  12345  ", "     99  "} {
				if !strings.Contains(b.String(), "\n"+pid) {
					t.Errorf("%s at %d: %q is not in its column:\n%s", name, width, pid, b.String())
				}
			}
		}
	}
	var b strings.Builder
	if err := lists.TableOf(psNarrow, list).PrintPlain(&b, 80); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(b.String(), "\n"); len(lines) != 6 || !strings.HasSuffix(lines[3], "no") || !strings.HasSuffix(lines[4], "later") || !strings.HasSuffix(lines[1], "yes") {
		t.Errorf("not told of each process whether it can be attached to:\n%s", b.String())
	}
	b.Reset()
	if err := lists.TableOf(psColumns, list).PrintPlain(&b, 0); err != nil || !strings.Contains(b.String(), strings.Repeat("y", 100)) {
		t.Errorf("the wide list is cut: %v\n%s", err, b.String())
	}
}
