package parquet

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

// A journal has rows that are in no Parquet file yet, in the order in which they arrived. Each of its
// entries is complete or recognizably not, so that after a crash everything can be read that was
// written.
//
//	entry    length of the content (4 bytes), CRC-32C of the content (4 bytes), content
//	content  kind (1 byte) and
//	         P  number of the process, what is known of it
//	         R  number of the process, row
//	         E  nothing: the journal is complete
const journalMagic = "gclogrow1\n"

const (
	entryProcess = 'P'
	entryRow     = 'R'
	entryEnd     = 'E'
	entryHead    = 8
	maxEntry     = 1 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendEntry appends an entry, whose content append appends.
func appendEntry(dst []byte, kind byte, content func([]byte) []byte) []byte {
	from := len(dst)
	dst = append(dst, make([]byte, entryHead)...)
	dst = append(dst, kind)
	dst = content(dst)
	body := dst[from+entryHead:]
	binary.LittleEndian.PutUint32(dst[from:], uint32(len(body)))
	binary.LittleEndian.PutUint32(dst[from+4:], crc32.Checksum(body, castagnoli))
	return dst
}

func appendRow(dst []byte, number int, r row) []byte {
	return appendEntry(dst, entryRow,
		func(b []byte) []byte { return append(binary.AppendUvarint(b, uint64(number)), r...) })
}

func appendProcess(dst []byte, number int, p *Process) []byte {
	text, err := json.Marshal(&p.Process)
	if err != nil {
		return dst // cannot happen: a process has only plain values
	}
	return appendEntry(dst, entryProcess,
		func(b []byte) []byte { return append(binary.AppendUvarint(b, uint64(number)), text...) })
}

func appendEnd(dst []byte) []byte {
	return appendEntry(dst, entryEnd, func(b []byte) []byte { return b })
}

// A journalReader reads a journal.
type journalReader struct {
	r        *bufio.Reader
	body     []byte
	complete bool // the end was read
}

// errDamaged reports that a journal ends in an entry that is not complete.
var errDamaged = errors.New("damaged")

func newJournalReader(r io.Reader) (*journalReader, error) {
	j := &journalReader{r: bufio.NewReaderSize(r, 64<<10)}
	magic := make([]byte, len(journalMagic))
	if _, err := io.ReadFull(j.r, magic); err != nil || string(magic) != journalMagic {
		return nil, errDamaged
	}
	return j, nil
}

// next returns the next entry. The error is io.EOF at the end, and errDamaged where an entry is not
// complete.
func (j *journalReader) next() (kind byte, number int, content []byte, err error) {
	var head [entryHead]byte
	if n, err := io.ReadFull(j.r, head[:]); err != nil {
		if n == 0 && err == io.EOF {
			return 0, 0, nil, io.EOF
		}
		return 0, 0, nil, errDamaged
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size == 0 || size > maxEntry {
		return 0, 0, nil, errDamaged
	}
	j.body = slices.Grow(j.body[:0], int(size))[:size]
	_, err = io.ReadFull(j.r, j.body)
	if err != nil || crc32.Checksum(j.body, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return 0, 0, nil, errDamaged
	}
	kind, content = j.body[0], j.body[1:]
	if kind == entryEnd {
		j.complete = true
		return kind, 0, nil, nil
	}
	n, used := binary.Uvarint(content)
	if used <= 0 || n > 1<<31 {
		return 0, 0, nil, errDamaged
	}
	return kind, int(n), content[used:], nil
}

// A recovery is what a journal that is not complete lacks.
type recovery struct {
	processes int  // that had a session when gclog ended
	damaged   bool // the last entry is not complete
	at        time.Time
}

// take reads a journal into a table. If the journal is not complete, because gclog was killed, it adds
// a gap for each process that had a session: what the process did after its last row may be missing.
func (t *Table) take(r io.Reader, modified time.Time) (lost *recovery, err error) {
	j, err := newJournalReader(r)
	if err != nil {
		return nil, err
	}
	type known struct {
		*Process
		number int
		open   bool
		last   int64 // time of its latest row
	}
	processes := map[int]*known{}
	lost = &recovery{at: modified}
	for {
		kind, number, content, err := j.next()
		if errors.Is(err, errDamaged) {
			lost.damaged = true
			break
		}
		if errors.Is(err, io.EOF) {
			break
		}
		p := processes[number]
		switch kind {
		case entryProcess:
			x, err := unmarshalProcess(content)
			if err != nil {
				return nil, err
			}
			if p == nil {
				p = &known{open: true}
				processes[number] = p
			}
			p.Process, p.number = x, t.sorter.process(x)
		case entryRow:
			if r := row(content); p != nil && r.valid() {
				p.open, p.last = r.action() != actionEnd, r.time()
				if err := t.sorter.add(p.number, r); err != nil {
					return nil, pathError(t.o.Path, err)
				}
			}
		}
	}
	if j.complete {
		return nil, nil
	}
	for _, p := range processes {
		if !p.open {
			continue
		}
		lost.processes++
		at := max(modified.UnixNano(), p.last) - p.sync
		g := gclog.Gap{Reason: gclog.GapStopped, Time: at, Ticks: at}
		if p.last > 0 {
			g.Since = p.last - p.sync
		}
		newRecorder(p.Process, func(r row, _ *fact) { err = errors.Join(err, t.sorter.add(p.number, r)) }, func() {}).
			Observe(&g)
	}
	return lost, err
}

// Names of journals: the one that is being written, and complete ones, whose time is the stamp of
// their files.
const (
	stampFormat = "2006-01-02T15-04-05.000"
	journalEnd  = ".rows"
)

func journalName(host string) string { return "." + application + "-" + host + journalEnd }

func sealedName(host string, at time.Time) string {
	return strings.TrimSuffix(journalName(host), journalEnd) + "-" + at.UTC().Format(stampFormat) + journalEnd
}

// unusedTime returns the first time after another that is in the name of no journal.
func unusedTime(dir *os.Root, host string, at time.Time) time.Time {
	for ; ; at = at.Add(time.Millisecond) {
		if _, err := dir.Lstat(sealedName(host, at)); err != nil {
			return at
		}
	}
}

// sealedJournals returns the complete journals of a host in a folder, the oldest first.
func sealedJournals(folder, host string) (names []string) {
	entries, _ := os.ReadDir(folder) // what cannot be read contains nothing of ours
	of := regexp.MustCompile("^" + regexp.QuoteMeta(strings.TrimSuffix(journalName(host), journalEnd)) +
		`-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}` + regexp.QuoteMeta(journalEnd) + "$")
	for _, e := range entries {
		if e.Type().IsRegular() && of.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// stampOf returns the time in the name of a complete journal.
func stampOf(name string) time.Time {
	name = strings.TrimSuffix(name, journalEnd)
	at, _ := time.Parse(stampFormat, name[len(name)-len(stampFormat):]) // the name fits
	return at
}

// errConverted reports that a journal is not there any more.
var errConverted = errors.New("it was converted before")

// convert writes the files of a complete journal, and deletes it.
func (o Options) convert(folder, name string) (done []File, lost *recovery, err error) {
	dir, err := o.Rotate.OpenFolder(folder)
	if err != nil {
		return nil, nil, &output.PathError{Path: folder, Err: err}
	}
	defer dir.Close()
	f, err := dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errConverted
	}
	if err != nil {
		return nil, nil, &output.PathError{Path: filepath.Join(folder, name), Err: cause.Of(err)}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	o.Stamp = stampOf(name)
	t := NewTable(o)
	lost, err = t.take(f, info.ModTime())
	switch {
	case errors.Is(err, errDamaged):
		err = fmt.Errorf("%s is no journal of gclog: it is left as it is", filepath.Join(folder, name))
		t.Discard()
		return nil, nil, err
	case err != nil:
		t.Discard()
		return nil, nil, err
	}
	if done, err = t.Finish(); err != nil {
		return nil, nil, err
	}
	_ = f.Close() // so that every system can delete it
	return done, lost, dir.Remove(name)
}

// openJournal starts a journal in a folder.
func openJournal(dir *os.Root, name string) (*os.File, error) {
	f, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	rotate.LockFile(f)
	if _, err := f.WriteString(journalMagic); err != nil {
		_ = f.Close()
		_ = dir.Remove(name)
		return nil, err
	}
	return f, nil
}
