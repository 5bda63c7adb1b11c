package formats

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The names of archived files, and which of them are kept.

// timeInName is lumberjack's.
const timeInName = "2006-01-02T15-04-05.000"

// stem is the path without its extension.
func (r *RotatingFile) stem() string { return strings.TrimSuffix(r.path, filepath.Ext(r.path)) }

// archive moves the file of the path away and deletes what is too old.
func (r *RotatingFile) archive() error {
	name, err := r.archiveName()
	if err != nil {
		return err
	}
	if err := os.Rename(r.path, name); err != nil {
		return err
	}
	if r.o.Naming == NameByIndex {
		r.stepIndex()
	}
	r.prune()
	return nil
}

func (r *RotatingFile) archiveName() (string, error) {
	if r.o.Naming == NameByIndex {
		return r.nextIndex()
	}
	return r.nextTime()
}

// nextTime returns a name that is not in use and later than all that are: two
// files of one millisecond must not overwrite each other, and after the clock was
// set back the newest file must not be taken for the oldest.
func (r *RotatingFile) nextTime() (string, error) {
	t := r.now().UTC().Truncate(time.Millisecond)
	if list := r.archivedByTime(); len(list) > 0 && !t.After(list[0].time) {
		t = list[0].time.Add(time.Millisecond)
	}
	name := r.stem() + "-" + t.Format(timeInName) + filepath.Ext(r.path)
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return "", errors.Join(err, errors.New(name+" exists"))
	}
	return name, nil
}

// nextIndex returns the names in turn. The first one is a free one, if there is
// none the oldest, which is replaced.
func (r *RotatingFile) nextIndex() (string, error) {
	if r.index < 0 {
		i, err := r.firstIndex()
		if err != nil {
			return "", err
		}
		r.index = i
	}
	return r.indexName(r.index), nil
}

// stepIndex goes on to the next name, once the one before is taken.
func (r *RotatingFile) stepIndex() {
	if r.o.Count > 0 {
		r.index = (r.index + 1) % r.o.Count
	} else {
		r.index = -1 // nothing is replaced where there is no rotation
	}
}

func (r *RotatingFile) firstIndex() (int, error) {
	const most = 1000
	count := r.o.Count
	if count <= 0 {
		count = most
	}
	oldest, oldestTime := 0, time.Time{}
	for i := range count {
		info, err := os.Lstat(r.indexName(i))
		if errors.Is(err, fs.ErrNotExist) {
			return i, nil
		}
		if err != nil {
			return 0, err
		}
		if i == 0 || info.ModTime().Before(oldestTime) {
			oldest, oldestTime = i, info.ModTime()
		}
	}
	if r.o.Count <= 0 {
		return 0, errors.New("no free name for the archived file: " + r.indexName(count-1) + " exists")
	}
	return oldest, nil
}

// indexName pads the index to the width of the largest one, as HotSpot does.
func (r *RotatingFile) indexName(i int) string {
	width := len(strconv.Itoa(max(r.o.Count-1, 0)))
	s := strconv.Itoa(i)
	for len(s) < width {
		s = "0" + s
	}
	return r.path + "." + s
}

// prune deletes the oldest archived files beyond Count. What cannot be deleted
// is left, and tried again the next time.
func (r *RotatingFile) prune() {
	if r.o.Count <= 0 || r.o.Naming == NameByIndex {
		return
	}
	list := r.archivedByTime()
	for _, a := range list[min(len(list), r.o.Count):] {
		_ = os.Remove(a.name)
	}
}

// Archived lists the files that were rotated away from a path, under names of either
// kind.
func Archived(path string) (list []string) {
	r := &RotatingFile{path: path}
	for _, a := range r.archivedByTime() {
		list = append(list, a.name)
	}
	names, _ := filepath.Glob(globEscape(path) + ".*")
	for _, name := range names {
		if _, err := strconv.ParseUint(strings.TrimPrefix(name, path+"."), 10, 16); err == nil {
			list = append(list, name)
		}
	}
	return list
}

// ArchivedFrom returns the path that a file was written to before it was rotated away;
// the path itself if its name is none of an archived file.
func ArchivedFrom(path string) string {
	ext := filepath.Ext(path)
	for _, ext := range []string{ext, ""} {
		stem := strings.TrimSuffix(path, ext)
		if at := len(stem) - len(timeInName); at > 0 && stem[at-1] == '-' {
			if _, err := time.Parse(timeInName, stem[at:]); err == nil {
				return stem[:at-1] + ext
			}
		}
	}
	if _, err := strconv.ParseUint(strings.TrimPrefix(ext, "."), 10, 16); err == nil {
		return strings.TrimSuffix(path, ext)
	}
	return path
}

type archived struct {
	name string
	time time.Time
}

// archivedByTime lists the archived files, the newest first.
func (r *RotatingFile) archivedByTime() []archived {
	var list []archived
	ext := filepath.Ext(r.path)
	names, _ := filepath.Glob(globEscape(r.stem()) + "-*" + globEscape(ext))
	for _, name := range names {
		s := strings.TrimSuffix(strings.TrimPrefix(name, r.stem()+"-"), ext)
		if t, err := time.Parse(timeInName, s); err == nil {
			list = append(list, archived{name, t})
		}
	}
	slices.SortFunc(list, func(a, b archived) int { return b.time.Compare(a.time) })
	return list
}

// globEscape makes filepath.Glob take s to the letter.
func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}
