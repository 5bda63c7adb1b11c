package rotate

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

// timeInName is lumberjack's time format.
const timeInName = "2006-01-02T15-04-05.000"

// stem returns the path without its extension.
func (r *File) stem() string { return strings.TrimSuffix(r.path, filepath.Ext(r.path)) }

// archive renames the current file and deletes archived files that are too old.
func (r *File) archive(dir *os.Root) error {
	r.user = r.examine(dir, r.base()).user
	name, err := r.archiveName(dir)
	if err != nil {
		return err
	}
	if err := dir.Rename(r.base(), name); err != nil {
		return err
	}
	delete(r.logs, name) // the name may have been that of another file
	if r.o.Naming == NameByIndex {
		r.stepIndex()
	}
	r.prune(dir)
	return nil
}

func (r *File) archiveName(dir *os.Root) (string, error) {
	if r.o.Naming == NameByIndex {
		return r.nextIndex(dir)
	}
	return r.nextTime(dir)
}

// nextTime returns a name that is not in use and later than all existing ones: two files from the
// same millisecond must not overwrite each other, and after the clock was set back the latest file
// must not be mistaken for the oldest.
func (r *File) nextTime(dir *os.Root) (string, error) {
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

// nextIndex returns the names in turn, starting with an unused one or, if there is none, with the
// oldest, which is replaced. A file that is not an archived one is never replaced.
func (r *File) nextIndex(dir *os.Root) (string, error) {
	if r.index < 0 {
		i, err := r.firstIndex(dir)
		if err != nil {
			return "", err
		}
		r.index = i
	}
	for _, others := range []bool{false, true} { // files of other users are replaced only if there are no others
		for range max(1, r.o.Count) {
			name := r.indexName(r.index)
			// Something that is not a file may be in the way temporarily; that is no reason to replace
			// a newer file.
			info, err := dir.Lstat(name)
			if err != nil || !info.Mode().IsRegular() || r.isArchived(dir, name) && (others || !r.isOthers(dir, name)) {
				return name, nil
			}
			r.stepIndex()
		}
	}
	return "", errors.New("no free name for the archived file: " + r.indexName(0) +
		" and all after it are files of other programs")
}

// stepIndex advances to the next name. It is called after a file was renamed to the previous one:
// if that failed, the same name is tried again before another is used.
func (r *File) stepIndex() {
	if r.o.Count > 0 {
		r.index = (r.index + 1) % r.o.Count
	} else {
		r.index = -1 // without rotation nothing is replaced
	}
}

func (r *File) firstIndex(dir *os.Root) (int, error) {
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
func (r *File) indexName(i int) string {
	width := len(strconv.Itoa(max(r.o.Count-1, 0)))
	s := strconv.Itoa(i)
	for len(s) < width {
		s = "0" + s
	}
	return r.base() + "." + s
}

// prune deletes the oldest archived files beyond Count. Files that cannot be deleted are left, and
// tried again the next time. Those about a process of another user, which had the same name and pid,
// are not counted.
func (r *File) prune(dir *os.Root) {
	if r.o.Count <= 0 || r.o.Naming == NameByIndex {
		return
	}
	list := slices.DeleteFunc(r.archivedByTime(dir), func(a archived) bool { return r.isOthers(dir, a.name) })
	for _, a := range list[min(len(list), r.o.Count):] {
		if r.isArchived(dir, a.name) && dir.Remove(a.name) == nil {
			delete(r.logs, a.name)
		}
	}
}

// Archived lists the files rotated away from a path, with names of either kind.
func Archived(path string) (list []string) {
	r := &File{path: filepath.Clean(path), files: &Files{}, now: time.Now}
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

// ArchivedFrom returns the path that a file was written to before it was rotated away, or path
// itself if it is not the name of an archived file.
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

// farthest is how far in the future a time in an archived file's name may be: the clock may have
// been set back, but not by years.
const farthest = 366 * 24 * time.Hour

// archivedByTime lists the archived files, latest first.
func (r *File) archivedByTime(dir *os.Root) []archived {
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

// An archivedLog is what is known of a file with the name of an archived one. It does not change.
type archivedLog struct {
	ours bool   // it begins like a log
	user string // of the process that it is about; "": unknown
}

// isLog reports whether a file with an archived file's name may be one: a regular file that starts
// like a log. Processes can influence the names of their logs, and other users may have files in
// the same directory.
func (r *File) isLog(dir *os.Root, name string) bool {
	return r.files.IsOurs == nil || r.known(dir, name).ours
}

// isOthers reports whether an archived file is about a process of another user than the file that is
// being archived.
func (r *File) isOthers(dir *os.Root, name string) bool {
	user := r.known(dir, name).user
	return user != "" && user != r.user
}

// known examines a file once.
func (r *File) known(dir *os.Root, name string) archivedLog {
	x, known := r.logs[name]
	if !known {
		if r.logs == nil {
			r.logs = map[string]archivedLog{}
		}
		x = r.examine(dir, name)
		r.logs[name] = x
	}
	return x
}

func (r *File) examine(dir *os.Root, name string) (x archivedLog) {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return x
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return x
	}
	defer f.Close()
	begin, err := io.ReadAll(io.LimitReader(f, beginSize))
	x.ours = err == nil && (len(begin) == 0 || r.files.IsOurs == nil || r.files.IsOurs(begin))
	x.user = FileOwner(f, info).UserID
	return x
}

// isArchived reports whether a file with an archived file's name may be deleted or replaced: nobody
// is writing it.
func (r *File) isArchived(dir *os.Root, name string) bool {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || !r.isLog(dir, name) {
		return false
	}
	return os.SameFile(info, r.ours) || !IsInUse(filepath.Join(filepath.Dir(r.path), name))
}

// entries returns the names in a directory, in alphabetical order; none if it cannot be read.
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
