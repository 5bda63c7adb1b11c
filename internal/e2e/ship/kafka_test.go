//go:build linux

package ship

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/program"
	"github.com/google/go-cmp/cmp"
)

// TestShipKafka: with samples/otelcol/kafka.yaml, each record of a log is one message of a topic, as it
// is in the log. The broker is one in memory, with Kafka's protocol.
func TestShipKafka(t *testing.T) {
	shipFolders(t) // skips the test where shippers are not wanted
	collector, err := filepath.Abs(filepath.Join("bin", "otelcol"))
	if err != nil {
		t.Fatal(err)
	}
	broker, err := filepath.Abs(filepath.Join("bin", "broker"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{collector, broker} {
		if _, err := os.Stat(path); err != nil {
			t.Skipf("make ship builds what is missing: %v", err)
		}
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "gc.json")
	convert := exec.Command(program.Build(t), "convert", filepath.Join("testdata", "traces", "net9-wks-attach.nettrace.gz"), "-o", log)
	if out, err := convert.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(want), "\n"), "\n")[1:] // without the header

	memory := exec.Command(broker, "dotnet.gc")
	stdin, err := memory.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := memory.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := memory.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = memory.Wait() }()
	defer stdin.Close()
	messages := bufio.NewReaderSize(stdout, 1<<20)
	address, err := messages.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}

	sample, err := os.ReadFile(filepath.Join("samples", "otelcol", "kafka.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "kafka.yaml")
	text := strings.NewReplacer("/var/lib/otelcol/gclog", filepath.Join(dir, "state"), "/var/log/gclog", dir, "localhost:9092", strings.TrimSpace(address)).Replace(string(sample))
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	more := filepath.Join(dir, "more.yaml")
	if err := os.WriteFile(more, []byte("service: { telemetry: { metrics: { level: none } } }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	ship := exec.Command(collector, "--config", config, "--config", more, "--feature-gates", "stanza.synchronousLogEmitter")
	ship.Stderr = &said
	if err := ship.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = ship.Process.Signal(syscall.SIGTERM)
		_ = ship.Wait()
	}()

	got := make(chan string, len(lines))
	go func() {
		defer close(got)
		for {
			line, err := messages.ReadString('\n')
			if err != nil {
				return
			}
			got <- strings.TrimSuffix(line, "\n")
		}
	}()
	var arrived []string
	late := time.After(time.Minute)
	for len(arrived) < len(lines) {
		select {
		case line := <-got: // at the end of the broker it is empty
			arrived = append(arrived, line)
		case <-late:
			t.Fatalf("%d of %d records arrived: %s", len(arrived), len(lines), said.String())
		}
	}
	if got, want := values(t, arrived), values(t, lines); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// values decodes JSON records, in the order of their ids.
func values(t *testing.T, lines []string) (list []map[string]any) {
	t.Helper()
	for _, line := range lines {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b map[string]any) int {
		return strings.Compare(fmt.Sprint(a["gclog_doc_id"]), fmt.Sprint(b["gclog_doc_id"]))
	})
	return list
}
