//go:build linux

package ship

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/program"
)

// logPrograms makes the daemon log two programs.
func logPrograms(t *testing.T, files, written string) (list []*source) {
	t.Helper()
	dir, err := os.MkdirTemp("", "node") // the paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	node := fakenode.New(dir, 1)
	t.Cleanup(node.Close)
	include := ""
	for _, name := range []string{"orders", "stock"} {
		r, err := node.Start(fakenode.Config{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		include += fmt.Sprintf(" - pid: %d\n", r.PID())
		file := fmt.Sprintf("%d.json", r.PID())
		list = append(list, &source{
			path:    filepath.Join(files, file),
			whole:   followed{path: filepath.Join(written, file)},
			records: map[string][]byte{},
			written: 1, // the start of the session
			collect: func() error {
				if !r.Collect() {
					return errors.New("the program has ended")
				}
				return nil
			},
		})
	}
	config := filepath.Join(dir, "gclog.yaml")
	text := fmt.Sprintf(`version: 1
discovery:
 interval: 100ms
 include:
%soutputs:
 - {path: "%s/%%p.json", filecount: %d, filesize: %d}
 - {path: "%s/%%p.json", filecount: 0}
http: {listen: ""}
summary: 0s
`, include, files, shipFiles, shipSize, written)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command("gclog", "daemon", "-c", config)
	var said bytes.Buffer
	daemon.Stderr = &said
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Signal(syscall.SIGTERM)
		if err := daemon.Wait(); err != nil || t.Failed() {
			t.Errorf("gclog daemon: %v\n%s", err, said.String())
		}
	})
	for _, r := range node.Runtimes() {
		for began := time.Now(); r.Sessions() == 0; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > program.Deadline {
				t.Fatalf("process %d has no session", r.PID())
			}
		}
	}
	list[0].rotate = func() error { return end(node.Runtimes()[0], list[0]) }
	list[1].rotate = func() error { return daemon.Process.Signal(syscall.SIGUSR1) }
	return list
}

// end makes a program exit, and its last file be renamed as the rsyslog sample does.
func end(r *fakenode.Runtime, p *source) error {
	r.Exit(0)
	p.written++ // the end of the session
	for began := time.Now(); time.Since(began) < program.Deadline; time.Sleep(10 * time.Millisecond) {
		if b, err := os.ReadFile(p.path); err == nil && bytes.Contains(b, []byte(`"action":"gc-session-end"`)) {
			return archiveEnded(p.path)
		}
	}
	return errors.New("the log of a program that has ended has no end")
}

// archiveEnded renames the last file of a program that has ended. If its new name is in use, a later run
// does that.
func archiveEnded(path string) error {
	for began := time.Now(); time.Since(began) < program.Deadline; time.Sleep(100 * time.Millisecond) {
		if out, err := exec.Command("sh", filepath.Join("samples", "rsyslog", "ended.sh"), filepath.Dir(path)).CombinedOutput(); err != nil {
			return fmt.Errorf("ended.sh: %w: %s", err, out)
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return fmt.Errorf("ended.sh has not renamed %s", path)
}

// TestShipEnded: the last file of a program that has ended gets a name after those of the files that
// were rotated away in the same second, and replaces none.
func TestShipEnded(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const last = `{"event":{"action":"gc-session-end"}}` + "\n"
	write("7.json", last)
	write("8.json", "{}\n") // of a program that runs
	archived := map[string]bool{}
	for now, s := time.Now().UTC(), time.Duration(0); s < 30; s++ {
		for _, ms := range []string{"000", "700", "999"} {
			if ms == "999" && s > 0 {
				continue // from the next second on the name is free
			}
			name := fmt.Sprintf("7-%s.%s.json", now.Add(s*time.Second).Format("2006-01-02T15-04-05"), ms)
			archived[name] = true
			write(name, "{}\n")
		}
	}
	if err := archiveEnded(filepath.Join(dir, "7.json")); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	renamed := 0
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case archived[f.Name()] || f.Name() == "8.json":
			if string(text) != "{}\n" {
				t.Errorf("%s was replaced", f.Name())
			}
		case strings.HasPrefix(f.Name(), "7-") && strings.HasSuffix(f.Name(), ".999.json") && string(text) == last:
			renamed++
		default:
			t.Errorf("%s: %s", f.Name(), text)
		}
	}
	if renamed != 1 || len(files) != len(archived)+2 {
		t.Errorf("%d files renamed, %d files in all", renamed, len(files))
	}
}

// plainProgram writes lines as long as gclog's into files that it renames, and does nothing else
// that could lose them.
func plainProgram(t *testing.T, files, written string) *source {
	t.Helper()
	p := &source{path: filepath.Join(files, "plain.json"), whole: followed{path: filepath.Join(written, "plain.json")}, records: map[string][]byte{}}
	appendTo := func(path, line string) error {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString(line)
		return errors.Join(err, f.Close())
	}
	var archived []string
	size, number := 0, 0
	p.rotate = func() error {
		name := filepath.Join(files, fmt.Sprintf("plain-%s-%d.json", time.Now().UTC().Format("2006-01-02T15-04-05"), number))
		if archived = append(archived, name); len(archived) > shipFiles {
			if err := os.Remove(archived[0]); err != nil {
				return err
			}
			archived = archived[1:]
		}
		size = 0
		return os.Rename(p.path, name)
	}
	p.collect = func() error {
		if size > shipSize-3<<10 {
			if err := p.rotate(); err != nil {
				return err
			}
		}
		if size == 0 {
			number++
			head := fmt.Sprintf("{\"gclog_file_id\":%q,\"message\":\"plain, file %d of this session\",\"pad\":%q}\n", rand.Text(), number, strings.Repeat(".", 1100))
			if err := appendTo(p.path, head); err != nil {
				return err
			}
			size = len(head)
		}
		var id [16]byte
		_, _ = rand.Read(id[:]) // never fails
		line := fmt.Sprintf("{\"@timestamp\":%q,\"log.level\":\"info\",\"message\":%q,\"gclog_doc_id\":%q}\n",
			time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z"), strings.Repeat("x", 1400), hex.EncodeToString(id[:]))
		size += len(line)
		return errors.Join(appendTo(p.whole.path, line), appendTo(p.path, line))
	}
	return p
}
