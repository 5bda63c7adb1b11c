//go:build linux

package check

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A record is what the checker reads from a line.
type record struct {
	FileID string    `json:"gclog_file_id"`
	DocID  string    `json:"gclog_doc_id"`
	Time   time.Time `json:"@timestamp"`
	Event  struct {
		Action   string
		Reason   string
		Duration int64
	}
	Process struct {
		PID      int
		EntityID string `json:"entity_id"`
	}
	Dotnet struct{ GC gc }
	GCLog  struct{ Session struct{ ID string } } `json:"gclog"`
	Error  struct{ Message string }              // of the end of a session

	at      string // file and line, for messages
	session int    // number of its session, from 1 on
}

// unwritten reports whether the record says that records before it could not be written.
func (r *record) unwritten() bool {
	return r.Dotnet.GC.Gap != nil && r.Dotnet.GC.Gap.Reason == "unwritten"
}

// dropped reports whether the record says that records could not be passed on, which may include
// those of collections that had begun before the first session.
func (r *record) dropped() bool {
	return r.Dotnet.GC.Gap != nil && slices.Contains([]string{"queue-full", "unwritten", "internal-error", "stopped"}, r.Dotnet.GC.Gap.Reason)
}

// part reports whether the session ended before the collection did: another one has its record.
func (r *record) part() bool { return slices.Contains(r.Dotnet.GC.Flaws, "cut-off") }

type gc struct {
	Number     uint32
	Generation int
	Type       string
	Complete   bool
	Flaws      []string
	Gap        *gap
}

type gap struct {
	From, To uint32
	Reason   string
}

const (
	headerSize = 1100 // minimum size in bytes of the first line of a file
	idWithin   = 64   // the id of the file is within this many bytes
)

// Files finds the JSON files of a folder and of those below it, by the cookie of the runtime that
// they are about. Each list is in the order in which the files were written. Files without a header
// belong to no runtime: they are listed under "".
func Files(dir string) (map[string][]string, error) {
	type file struct {
		path, cookie string
		written      time.Time
	}
	var files []file
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		cookie, err := cookieOf(path)
		files = append(files, file{path, cookie, info.ModTime()})
		return err
	})
	// An archived file may have been written within the same tick of the clock as the next one;
	// then the names decide: "x-2026" comes before "x.json".
	slices.SortStableFunc(files, func(a, b file) int {
		return cmp.Or(a.written.Compare(b.written), cmp.Compare(a.path, b.path))
	})
	byCookie := map[string][]string{}
	for _, f := range files {
		byCookie[f.cookie] = append(byCookie[f.cookie], f.path)
	}
	return byCookie, err
}

func cookieOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	var r record
	if errors.Is(err, io.EOF) || err == nil && json.Unmarshal(line, &r) != nil {
		return "", nil
	}
	return r.Process.EntityID, err
}

// read reads a file and notes the problems of its lines.
func (c *checker) read(path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		c.wrong("%v", err)
		return
	}
	name := filepath.Base(path)
	for n := 1; len(b) > 0; n++ {
		at := fmt.Sprintf("%s:%d", name, n)
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		b = rest
		if !whole {
			// The rest of the line was never written: the writer was killed.
			if !c.o.killed() {
				c.wrong("%s: the line is torn: %s", at, short(line))
			}
			return
		}
		r := record{at: at}
		if err := json.Unmarshal(line, &r); err != nil {
			c.wrong("%s: %v: %s", at, err, short(line))
			continue
		}
		if n == 1 && !(c.o.Truncated && r.FileID == "") {
			c.header(&r, line)
		}
		if r.FileID == "" {
			c.records = append(c.records, r)
		} else if n > 1 {
			c.wrong("%s: a header inside of a file", at)
		}
	}
}

func short(line []byte) string {
	if len(line) > 120 {
		return string(line[:120]) + "..."
	}
	return string(line)
}

// header checks the first line of a file.
func (c *checker) header(r *record, line []byte) {
	switch {
	case r.FileID == "":
		c.wrong("%s: the file begins without a header", r.at)
		return
	case len(line)+1 < headerSize:
		c.wrong("%s: the header has %d bytes, shippers need %d", r.at, len(line)+1, headerSize)
	case !bytes.Contains(line[:idWithin], []byte(r.FileID)):
		c.wrong("%s: the id of the file is not in its first %d bytes", r.at, idWithin)
	}
	if other, known := c.fileIDs[r.FileID]; known {
		c.wrong("%s: the id of the file is that of %s", r.at, other)
	}
	c.fileIDs[r.FileID] = r.at
	c.document(r)
	if r.Process.EntityID != c.l.Cookie || r.Process.PID != c.l.PID {
		c.wrong("%s: the file is about process %d %s, not %d %s", r.at, r.Process.PID, r.Process.EntityID, c.l.PID, c.l.Cookie)
	}
}
