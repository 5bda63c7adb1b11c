package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A suite is the tests of one package, and the code of the changed package that they run.
type suite struct {
	pkg   string
	tests []test // the fastest first
}

type test struct {
	name  string
	takes time.Duration
	runs  []block
}

// A block is a part of a file, from a line and column up to another.
type block struct {
	file     string
	from, to [2]int
}

func (b block) has(c change) bool {
	at := [2]int{c.line, c.col}
	return b.file == c.file && slices.Compare(b.from[:], at[:]) <= 0 && slices.Compare(at[:], b.to[:]) < 0
}

// newSuite runs each test of a package, or of package:pattern each that matches, alone, to measure
// how long it takes and what code it runs, also in programs that it starts. It also returns the
// blocks of the changed package. All tests must succeed; those that take longer than o.longest are
// left out.
func newSuite(ctx context.Context, tests, subject, dir string, o options) (*suite, []block, error) {
	pkg, only, found := strings.Cut(tests, ":")
	if !found {
		only = "^(Test|Example|Fuzz)"
	}
	binary := filepath.Join(dir, "covered.test")
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-cover", "-coverpkg=./"+subject, "-o", binary, "./"+pkg).CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w\n%s", pkg, err, out)
	}
	out, err := exec.CommandContext(ctx, binary, "-test.list", only).Output()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", pkg, err)
	}
	s := &suite{pkg: pkg}
	var blocks []block
	for name := range strings.FieldsSeq(string(out)) {
		t, said, all, err := watch(ctx, binary, pkg, dir, name)
		if err != nil { // a busy machine may be the cause
			t, said, all, err = watch(ctx, binary, pkg, dir, name)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: without a change %s fails: %w\n%s", pkg, name, err, said)
		}
		blocks = all
		tests := []test{t}
		if t.takes > splitTime {
			if parts, ok := split(ctx, binary, pkg, dir, subtests(said)); ok {
				tests = parts
			}
		}
		for _, t := range tests {
			if len(t.runs) > 0 && t.takes <= o.longest {
				s.tests = append(s.tests, t)
			}
		}
	}
	slices.SortFunc(s.tests, func(a, b test) int { return cmp.Compare(a.takes, b.takes) })
	return s, blocks, nil
}

// splitTime is how long a test may take before its subtests are run separately.
const splitTime = 2 * time.Second

// split returns the subtests of a test. ok is false if there are fewer than two, or if one fails
// when run alone: the test may need all of them together.
func split(ctx context.Context, binary, pkg, dir string, names []string) (parts []test, ok bool) {
	for _, name := range names {
		t, _, _, err := watch(ctx, binary, pkg, dir, name)
		if err != nil {
			return nil, false
		}
		parts = append(parts, t)
	}
	return parts, len(parts) > 1
}

var part = regexp.MustCompile(`(?m)^    --- PASS: (\S+) `)

// subtests returns the first-level subtests that a test has run.
func subtests(said []byte) (names []string) {
	for _, m := range part.FindAllSubmatch(said, -1) {
		if name := string(m[1]); strings.Count(name, "/") == 1 {
			names = append(names, name)
		}
	}
	return names
}

// watch runs a test, and returns the blocks that it runs and all blocks.
func watch(ctx context.Context, binary, pkg, dir, name string) (t test, said []byte, all []block, err error) {
	temp, err := os.MkdirTemp(dir, "t")
	if err != nil {
		return t, nil, nil, err
	}
	defer os.RemoveAll(temp)
	profile := filepath.Join(temp, "profile")
	began := time.Now()
	said, err = run(ctx, binary, pkg, temp, limits{time: time.Hour}, pattern(name), "-test.v", "-test.coverprofile="+profile)
	t = test{name: name, takes: time.Since(began)}
	if err != nil {
		return t, said, nil, err
	}
	if t.runs, all, err = readProfile(profile); err != nil {
		return t, said, nil, err
	}
	children := filepath.Join(temp, coverName)
	if files, err := os.ReadDir(children); err != nil || len(files) == 0 {
		return t, said, all, err
	}
	if out, err := exec.CommandContext(ctx, "go", "tool", "covdata", "textfmt", "-i", children, "-o", profile).CombinedOutput(); err != nil {
		return t, out, nil, err
	}
	ran, _, err := readProfile(profile)
	t.runs = append(t.runs, ran...)
	return t, said, all, err
}

// pattern returns the argument of -test.run for tests with the same parent, or without one.
func pattern(names ...string) string {
	parent, _, sub := strings.Cut(names[0], "/")
	var last []string
	for _, name := range names {
		last = append(last, regexp.QuoteMeta(name[strings.LastIndex(name, "/")+1:]))
	}
	if p := "^(" + strings.Join(last, "|") + ")$"; !sub {
		return p
	} else {
		return "^" + parent + "$/" + p
	}
}

// readProfile returns the blocks of a coverage profile: those that were run, and all.
func readProfile(name string) (ran, all []block, err error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(content)) {
		var b block
		var statements, count int
		file, rest, ok := strings.Cut(line, ":")
		if !ok || file == "mode" {
			continue
		}
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.from[0], &b.from[1], &b.to[0], &b.to[1], &statements, &count); err != nil {
			return nil, nil, fmt.Errorf("%s: %q: %w", name, line, err)
		}
		b.file = strings.TrimPrefix(file, module+"/")
		all = append(all, b)
		if count > 0 {
			ran = append(ran, b)
		}
	}
	return ran, all, nil
}

// of returns the tests that run the changed code: all tests if it is in no block, like a constant.
func (s *suite) of(c change, inBlock bool) []test {
	return slices.DeleteFunc(slices.Clone(s.tests), func(t test) bool {
		return inBlock && !slices.ContainsFunc(t.runs, func(b block) bool { return b.has(c) })
	})
}

// notices reports whether one of the tests fails in a program.
func (s *suite) notices(ctx context.Context, program string, tests []test, dir string, o options) (bool, error) {
	for len(tests) > 0 {
		// The fast tests first: most changes need no others.
		parent, _, _ := strings.Cut(tests[0].name, "/")
		var names []string
		var takes time.Duration
		for len(tests) > 0 && takes < time.Second {
			if p, _, sub := strings.Cut(tests[0].name, "/"); len(names) > 0 && (sub || strings.Contains(names[0], "/")) && p != parent {
				break
			}
			names, takes, tests = append(names, tests[0].name), takes+tests[0].takes, tests[1:]
		}
		temp, err := os.MkdirTemp(dir, "t")
		if err != nil {
			return false, err
		}
		_, err = run(ctx, program, s.pkg, temp, limits{o.patience + 5*takes, o.cpu}, pattern(names...), "-test.failfast")
		if err := errors.Join(ctx.Err(), os.RemoveAll(temp)); err != nil {
			return false, err
		}
		if err != nil {
			return true, nil
		}
	}
	return false, nil
}

// coverName is a folder of temporary files to which programs that tests start write their coverage.
const coverName = "covered"

// limits are what tests may take. A test that exceeds one fails.
type limits struct {
	time time.Duration
	cpu  time.Duration // of each process, in whole seconds; 0: any
}

func (l limits) String() string {
	memory := "ulimit -v 12000000\n"
	if l.cpu == 0 {
		return memory
	}
	return fmt.Sprintf("%sulimit -t %.0f\n", memory, l.cpu.Seconds())
}

// run runs tests in the folder of their package. A test that needs too much memory or time fails.
func run(ctx context.Context, program, pkg, temp string, limits limits, pattern string, args ...string) ([]byte, error) {
	covered := filepath.Join(temp, coverName)
	// Like t.TempDir, because tests let other users look in; and those users write their coverage
	// too.
	if err := errors.Join(os.Chmod(temp, 0o755), os.Mkdir(covered, 0o777), os.Chmod(covered, 0o777)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limits.time)
	defer cancel()
	line := append([]string{"sh", "-c", limits.String() + `exec "$@"`, "sh", program, "-test.run", pattern, "-test.timeout", "0"}, args...)
	if confined() {
		line[2] = limits.String() + confine + `exec "$@"`
		line = append(unshare, line...)
	}
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	number := strings.TrimPrefix(filepath.Base(program), changedName)
	cmd.Dir, cmd.Env = pkg, append(os.Environ(), "TMPDIR="+temp, "GOCOVERDIR="+covered, changeEnv+"="+number)
	cmd.WaitDelay = time.Second
	return cmd.CombinedOutput()
}

// unshare runs a program in a pid namespace, where it reaches no other process and nothing that it
// starts outlives it, and in a mount namespace.
var unshare = []string{"unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"}

// confine makes all file systems read-only except TMPDIR and an empty /tmp: changed code may delete
// what the original would not. Of mounts that are hidden, by that /tmp for example, nothing can be
// changed; those that root may not use, such as another user's FUSE, are removed from the namespace.
const confine = `
mounts=$(cut -d' ' -f5 /proc/self/mountinfo | sed 's/\\/\\0/g')
mount --bind "$TMPDIR" "$TMPDIR" && mount -t tmpfs -o mode=1777 tmpfs /tmp || exit
for m in $mounts; do
	m=$(printf %b "$m")
	case $m in
	/proc|/proc/*|/sys|/sys/*|/tmp|/tmp/*) ;;
	*)
		mount -o remount,bind,ro "$m" 2>/dev/null || umount -l "$m" 2>/dev/null || ! mountpoint -q "$m" || {
			echo "cannot make $m read-only"
			exit 1
		}
		;;
	esac
done
`

// confined reports whether a process can have namespaces of its own.
var confined = sync.OnceValue(func() bool {
	return exec.Command(unshare[0], append(unshare[1:], "true")...).Run() == nil
})
