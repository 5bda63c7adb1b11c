package host_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/host"
)

// TestLookStuck: a look that does not end is abandoned, counted, and not repeated until it has
// ended. Its late result is released.
func TestLookStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host.Host{}
		release := make(chan struct{})
		var started, dropped atomic.Int32
		stuck := func() (int, error) {
			started.Add(1)
			<-release
			return 7, nil
		}
		ctx, drop := t.Context(), func(n int) { dropped.Add(int32(n)) }
		since := time.Now()
		_, err := h.Look(ctx, 1, 1000, stuck, drop)
		refused(t, err, host.CauseStuck, "could not be inspected within")
		if took := time.Since(since); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
		_, err = h.Look(ctx, 1, 1000, stuck, drop)
		refused(t, err, host.CauseStuck, "an earlier inspection")
		if n, all := h.Stuck(); n != 1 || all || started.Load() != 1 {
			t.Errorf("%d are stuck of %d, all: %v", n, started.Load(), all)
		}
		if n, err := h.Look(ctx, 2, 1000, func() (int, error) { return 5, nil }, drop); n != 5 || err != nil {
			t.Errorf("another process: %d, error %v", n, err)
		}
		for pid, f := range map[int]func() (int, error){
			3: func() (int, error) { <-release; return 100, errors.New("it fails") },
			4: func() (int, error) { <-release; panic("it panics") },
		} {
			_, err = h.Look(ctx, pid, 1000, f, drop)
			refused(t, err, host.CauseStuck, "could not be inspected within")
		}
		close(release)
		synctest.Wait()
		if n, _ := h.Stuck(); n != 0 || dropped.Load() != 7 {
			t.Errorf("%d are stuck at the end, given back: %d, want 7", n, dropped.Load())
		}
		if n, err := h.Look(ctx, 1, 1000, stuck, drop); n != 7 || err != nil {
			t.Errorf("afterwards: %d, error %v", n, err)
		}
	})
}

// TestLookBounds: the number of stuck looks is limited, with a lower limit for one user than in
// total.
func TestLookBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host.Host{}
		release, drop := make(chan struct{}), func(int) {}
		stuck := func() (int, error) { <-release; return 0, nil }
		fill := func(from, uid int) {
			for i := range 8 {
				go func() { _, _ = h.Look(t.Context(), from+i, uid, stuck, drop) }()
			}
			time.Sleep(5 * time.Second)
			synctest.Wait()
		}
		fine := func() (int, error) { return 0, nil }
		fill(1, 1)
		others, ended := make(chan struct{}), sync.WaitGroup{}
		for i := range 8 { // not stuck yet: they do not count
			ended.Go(func() {
				_, _ = h.Look(t.Context(), 100+i, 1, func() (int, error) { <-others; return 0, nil }, drop)
			})
		}
		synctest.Wait()
		_, err := h.Look(t.Context(), 1000, 1, fine, drop)
		refused(t, err, host.CauseStuck, "inspections of 8 other processes of user")
		if _, err := h.Look(t.Context(), 1000, 2, fine, drop); err != nil {
			t.Errorf("another user: %v", err)
		}
		close(others)
		ended.Wait()
		for user := 2; user <= 256/8; user++ {
			fill(user*1000, user)
		}
		if n, all := h.Stuck(); n != 256 || !all {
			t.Errorf("%d are stuck, all: %v", n, all)
		}
		_, err = h.Look(t.Context(), 999_999, 999, fine, drop)
		refused(t, err, host.CauseStuck, "is not inspected")
		close(release)
		synctest.Wait()
		if n, all := h.Stuck(); n != 0 || all {
			t.Errorf("%d are stuck at the end, all: %v", n, all)
		}
	})
}

// TestLookLeft: a caller that stops waiting gets the error of the context; a panic is passed to the
// caller.
func TestLookLeft(t *testing.T) {
	h := &host.Host{}
	release, drop := make(chan struct{}), func(int) {}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Look(ctx, 1, 1, func() (int, error) { <-release; return 0, nil }, drop); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	close(release)
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "a defect") || !strings.Contains(text, "look_linux_test.go") {
			t.Errorf("the panic is %q", text)
		}
	}()
	_, _ = h.Look(t.Context(), 2, 1, func() (int, error) { panic("a defect") }, drop)
}

// TestLookMadeUp: a process that no Host has found is looked at as well.
func TestLookMadeUp(t *testing.T) {
	if _, err := (&host.Process{PID: 99_999_999}).ReadFile(t.Context(), "/", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestParseMount: the content of a line of a mountinfo; a truncated line is rejected.
func TestParseMount(t *testing.T) {
	for line, want := range map[string]string{
		"30 20 0:26 /a /b rw,relatime shared:4 - cgroup2 none rw,x": "30|0:26|/a|/b|cgroup2|rw,x",
		"30 20 0:26 / /b rw - ext4 /dev/x rw":                       "30|0:26|/|/b|ext4|rw",
		"30 20 0:26 / /b rw a:1 b:2 c - ext4 /dev/x rw,y z\n":       "30|0:26|/|/b|ext4|rw,y",
		`30 20 0:26 /a\040b /c\134d\011\012 rw - ext4 x rw`:         "30|0:26|/a b|/c\\d\t\n|ext4|rw",
		`30 20 0:26 \040 /\04 rw - ext4 x rw`:                       "30|0:26| |/\\04|ext4|rw",
		`30 20 0:26 \ \0401\ rw - ext4 x rw`:                        "30|0:26|\\| 1\\|ext4|rw",
		`30 20 0:26 /\089 /\400\377 rw - ext4 x rw`:                 "30|0:26|/\\089|/\\400\xff|ext4|rw",
		"30 20 0:26 / /b - ext4 /dev/x rw":                          "",
		"30 20 0:26 / /b rw - ext4 /dev/x":                          "",
		"30 20 0:26 / /b rw ext4 /dev/x rw":                         "",
		"x 20 0:26 / /b rw - ext4 /dev/x rw":                        "",
		"30 - 0:26 / /b rw - ext4 /dev/x rw":                        "",
		"":                                                          "",
	} {
		got, ok := host.ParseMount(line)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v, want %q", line, got, ok, want)
		}
	}
}

// TestMayNotAnswer: which file systems are not touched.
func TestMayNotAnswer(t *testing.T) {
	line := func(id, point, system, options string) string {
		return id + " 1 0:" + id + " / " + point + " rw,relatime shared:1 - " + system + " source " + options + "\n"
	}
	root := line("20", "/", "ext4", "rw")
	ofHost := root + line("21", "/var/lib/lazy/5/fs", "fuse.rawBridge", "rw") + line("22", "/data", "nfs4", "rw") +
		line("23", "/over", "fuse", "rw") + line("24", "/over", "tmpfs", "rw") + line("25", "/under", "tmpfs", "rw") + line("26", "/under", "fuse", "rw")
	for name, tc := range map[string]struct {
		mounts  string
		path    string
		foreign bool // the namespace belongs to an unprivileged user
		want    bool
	}{
		"a disk":                        {mounts: root, path: "/"},
		"nothing is mounted there":      {mounts: root, path: "/tmp"},
		"FUSE":                          {mounts: root + line("30", "/tmp", "fuse.sshfs", "rw"), path: "/tmp", want: true},
		"FUSE on a block device":        {mounts: root + line("30", "/tmp", "fuseblk", "rw"), path: "/tmp", want: true},
		"a network":                     {mounts: root + line("30", "/tmp", "nfs4", "rw"), path: "/tmp", want: true},
		"what nobody knows":             {mounts: root + line("30", "/tmp", "newfs", "rw"), path: "/tmp", want: true},
		"a disk over FUSE":              {mounts: root + line("30", "/tmp", "fuse", "rw") + line("31", "/tmp", "tmpfs", "rw"), path: "/tmp"},
		"FUSE over a disk":              {mounts: root + line("30", "/tmp", "tmpfs", "rw") + line("31", "/tmp", "fuse", "rw"), path: "/tmp", want: true},
		"FUSE in a folder with a blank": {mounts: root + line("30", `/a\040b`, "fuse", "rw"), path: "/a b", want: true},
		"a container":                   {mounts: line("30", "/", "overlay", "rw,lowerdir=/var/lib/l/A:/var/lib/l/B,upperdir=/var/lib/u,workdir=/var/lib/w"), path: "/"},
		"a container of a user":         {mounts: line("30", "/", "overlay", "rw,lowerdir=/var/lib/l/A"), path: "/", foreign: true, want: true},
		"a layer on FUSE":               {mounts: line("30", "/", "overlay", "rw,lowerdir=/var/lib/l/A:/var/lib/lazy/5/fs,upperdir=/u"), path: "/", want: true},
		"a layer below FUSE":            {mounts: line("30", "/", "overlay", "rw,lowerdir+=/var/lib/l/A,lowerdir+=/var/lib/lazy/5/fs/x"), path: "/", want: true},
		"a layer on a network":          {mounts: line("30", "/", "overlay", "rw,lowerdir=/l,upperdir=/data/u"), path: "/", want: true},
		"a layer on a disk over FUSE":   {mounts: line("30", "/", "overlay", "rw,lowerdir=/over/x"), path: "/"},
		"a layer on FUSE over a disk":   {mounts: line("30", "/", "overlay", "rw,lowerdir=/under"), path: "/", want: true},
		"a layer beside FUSE":           {mounts: line("30", "/", "overlay", "rw,lowerdir=/var/lib/lazy/5/fsx"), path: "/"},
		"a layer whose path is cut":     {mounts: line("30", "/", "overlay", "rw,lowerdir=l/A:l/B"), path: "/", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := host.MayNotAnswer(tc.mounts, ofHost, !tc.foreign, tc.path); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}
