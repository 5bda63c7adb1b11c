package formats

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The names of archived files, and which of them are kept.

// timeInName is lumberjack's.
const timeInName = "2006-01-02T15-04-05.000"

// stem is the path without its extension.
func (r *RotatingFile) stem() string { return strings.TrimSuffix(r.path, filepath.Ext(r.path)) }

// archive moves the file of the path away and deletes what is too old.
func (r *RotatingFile) archive(dir *os.Root) error {
	name, err := r.archiveName(dir)
	if err != nil {
		return err
	}
	if err := dir.Rename(r.base(), name); err != nil {
		return err
	}
	delete(r.logs, name) // it may have replaced another one
	if r.o.Naming == NameByIndex {
		r.stepIndex()
	}
	r.prune(dir)
	return nil
}

func (r *RotatingFile) archiveName(dir *os.Root) (string, error) {
	if r.o.Naming == NameByIndex {
		return r.nextIndex(dir)
	}
	return r.nextTime(dir)
}

// nextTime returns a name that is not in use and later than all that are: two
// files of one millisecond must not overwrite each other, and after the clock was
// set back the newest file must not be taken for the oldest.
func (r *RotatingFile) nextTime(dir *os.Root) (string, error) {
	t := r.now().UTC().Truncate(time.Millisecond)
	if list := r.archivedByTime(dir); len(list) > 0 && !t.After(list[0].time) {
		t = list[0].time.Add(time.Millisecond)
	}
	ext := filepath.Ext(r.path)
	name := filepath.Base(r.stem()) + "-" + t.Format(timeInName) + ext
	if _, err := dir.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return "", errors.Join(err, errors.New(name+" exists"))
	}
	return name, nil
}

// nextIndex returns the names in turn. The first one is a free one, if there is
// none the oldest, which is replaced. A file that is no archived one is not.
func (r *RotatingFile) nextIndex(dir *os.Root) (string, error) {
	if r.index < 0 {
		i, err := r.firstIndex(dir)
		if err != nil {
			return "", err
		}
		r.index = i
	}
	for range max(1, r.o.Count) {
		name := r.indexName(r.index)
		// What is no file at all may be in the way for a while, and is no reason to replace a newer one.
		if info, err := dir.Lstat(name); err != nil || !info.Mode().IsRegular() || r.isArchived(dir, name) {
			return name, nil
		}
		r.stepIndex()
	}
	return "", errors.New("no free name for the archived file: " + r.indexName(0) + " and all after it are others' files")
}

// stepIndex goes on to the next name. It is called when a file has got the one before: if that
// failed the same one is tried again, before another is taken.
func (r *RotatingFile) stepIndex() {
	if r.o.Count > 0 {
		r.index = (r.index + 1) % r.o.Count
	} else {
		r.index = -1 // nothing is replaced where there is no rotation
	}
}

func (r *RotatingFile) firstIndex(dir *os.Root) (int, error) {
	const most = 1000
	count := r.o.Count
	if count <= 0 {
		count = most
	}
	oldest, oldestTime := 0, time.Time{}
	for i := range count {
		info, err := dir.Lstat(r.indexName(i))
		if errors.Is(err, fs.ErrNotExist) {
			return i, nil
		}
		if err != nil {
			return 0, err
		}
		if oldestTime.IsZero() || info.ModTime().Before(oldestTime) {
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
	return r.base() + "." + s
}

// prune deletes the oldest archived files beyond Count. What cannot be deleted
// is left, and tried again the next time.
func (r *RotatingFile) prune(dir *os.Root) {
	if r.o.Count <= 0 || r.o.Naming == NameByIndex {
		return
	}
	list := r.archivedByTime(dir)
	for _, a := range list[min(len(list), r.o.Count):] {
		if r.isArchived(dir, a.name) && dir.Remove(a.name) == nil {
			delete(r.logs, a.name)
		}
	}
}

// Archived lists the files that were rotated away from a path, under names of either
// kind.
func Archived(path string) (list []string) {
	r := &RotatingFile{path: filepath.Clean(path), files: &Files{}, now: time.Now}
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil
	}
	defer dir.Close()
	for _, a := range r.archivedByTime(dir) {
		list = append(list, filepath.Join(filepath.Dir(path), a.name))
	}
	for _, name := range entries(dir) {
		index, ok := strings.CutPrefix(name, r.base()+".")
		if _, err := strconv.ParseUint(index, 10, 16); ok && err == nil {
			list = append(list, filepath.Join(filepath.Dir(path), name))
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

// farthest is how far a time in the name of an archived file may be in the future: the clock may
// have been set back, but not by years.
const farthest = 366 * 24 * time.Hour

// archivedByTime lists the archived files, the newest first.
func (r *RotatingFile) archivedByTime(dir *os.Root) []archived {
	var list []archived
	ext, stem := filepath.Ext(r.path), filepath.Base(r.stem())
	for _, name := range entries(dir) {
		s, isOf := strings.CutPrefix(name, stem+"-")
		s, is := strings.CutSuffix(s, ext)
		if !isOf || !is {
			continue
		}
		if t, err := time.Parse(timeInName, s); err == nil && t.Before(r.now().Add(farthest)) && r.isLog(dir, name) {
			list = append(list, archived{name, t})
		}
	}
	slices.SortFunc(list, func(a, b archived) int { return b.time.Compare(a.time) })
	return list
}

// isLog reports whether a file with the name of an archived one may be one: a regular file that begins
// as a log does. Processes have a say in the names of their logs, and others may have files in the
// same directory. What a file is does not change: it is looked into once.
func (r *RotatingFile) isLog(dir *os.Root, name string) bool {
	if r.files.IsOurs == nil {
		return true
	}
	ours, known := r.logs[name]
	if !known {
		if r.logs == nil {
			r.logs = map[string]bool{}
		}
		ours = r.beginsAsLog(dir, name)
		r.logs[name] = ours
	}
	return ours
}

func (r *RotatingFile) beginsAsLog(dir *os.Root, name string) bool {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	begin, err := io.ReadAll(io.LimitReader(f, beginSize))
	return err == nil && (len(begin) == 0 || r.files.IsOurs(begin))
}

// isArchived reports whether a file with the name of an archived one may be deleted or replaced:
// nobody writes it.
func (r *RotatingFile) isArchived(dir *os.Root, name string) bool {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || !r.isLog(dir, name) {
		return false
	}
	return os.SameFile(info, r.ours) || !IsWritten(filepath.Join(filepath.Dir(r.path), name))
}

// entries returns the names in a directory, in the order of the alphabet. What cannot be read has
// nothing for us.
func entries(dir *os.Root) []string {
	f, err := dir.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	slices.Sort(names)
	return names
}
