//go:build linux

package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gclog/gclog/internal/testing/program"
)

// Tests that run the files for deployments through the programs that read them. "make deploy-test"
// builds the packages first, and passes their folder in GCLOG_DIST.

// built returns a file that "make package" created.
func built(t *testing.T, pattern string) string {
	t.Helper()
	dist := os.Getenv("GCLOG_DIST")
	if dist == "" {
		t.Skip("there are no packages: make deploy-test makes them")
	}
	files, err := filepath.Glob(filepath.Join(dist, pattern))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s/%s: %v %v", dist, pattern, files, err)
	}
	return files[0]
}

// unpacked returns a folder with the content of the Debian package.
func unpacked(t *testing.T) string {
	t.Helper()
	program.Needs(t, "dpkg-deb")
	dir := t.TempDir()
	program.Must(t, "dpkg-deb", "-x", built(t, "gclog_*_amd64.deb"), dir)
	return dir
}

// TestDeployUnit: systemd accepts the unit as it is in the package, finds the files it names, and
// rates its exposure. A service without any restriction has 9.6; what remains is the two
// capabilities, the processes and the sockets that gclog needs.
func TestDeployUnit(t *testing.T) {
	program.Needs(t, "systemd-analyze")
	root := unpacked(t)
	unit := filepath.Join(root, "usr", "lib", "systemd", "system", "gclog.service")
	b, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`man:([\w.-]+)\((\d)\)`).FindAllStringSubmatch(string(b), -1) {
		if _, err := os.Stat(filepath.Join(root, "usr/share/man/man"+m[2], m[1]+"."+m[2]+".gz")); err != nil {
			t.Errorf("the unit names a page that the package does not have: %v", err)
		}
	}
	// systemd checks that what the unit starts exists on this machine.
	text := regexp.MustCompile(`(?m)^(Exec\w+=)/usr/bin/gclog`).ReplaceAll(b, []byte("${1}"+filepath.Join(root, "usr/bin/gclog")))
	here := filepath.Join(t.TempDir(), "gclog.service")
	if err := os.WriteFile(here, text, 0o644); err != nil {
		t.Fatal(err)
	}
	verify := func() {
		if out := program.Must(t, "systemd-analyze", "verify", "--man=no", here); strings.Contains(out, "gclog.service") {
			t.Errorf("systemd-analyze verify: %s", out)
		}
	}
	verify()
	// The same with what su needs.
	more, err := os.ReadFile(filepath.Join(root, "usr/share/doc/gclog/samples/systemd/gclog-su.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(here+".d", 0o755), os.WriteFile(here+".d/su.conf", more, 0o644)); err != nil {
		t.Fatal(err)
	}
	verify()
	program.Must(t, "systemd-analyze", "security", "--offline=true", "--threshold=21", unit)
}

// TestDeployLintian: lintian reports no problem in the Debian package except those that
// packaging/lintian-overrides justifies, and it reports all of these.
func TestDeployLintian(t *testing.T) {
	program.Needs(t, "lintian")
	said := program.Must(t, "lintian", "--allow-root", "--fail-on", "none", "--show-overrides", built(t, "gclog_*_amd64.deb"))
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "E: ") || strings.HasPrefix(line, "W: ") {
			t.Error(line)
		}
	}
	overrides, err := os.ReadFile(filepath.Join("packaging", "lintian-overrides"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^gclog: (\S+)`).FindAllStringSubmatch(string(overrides), -1) {
		if !strings.Contains(said, "O: gclog: "+m[1]) {
			t.Errorf("%s is overridden, but lintian does not find it", m[1])
		}
	}
}

// inPackages are files that every kind of package contains, with their modes.
var inPackages = map[string]string{
	"/usr/bin/gclog": "-rwxr-xr-x", "/etc/gclog/gclog.yaml": "-rw-r--r--",
	"/usr/lib/systemd/system/gclog.service": "-rw-r--r--", "/usr/lib/sysusers.d/gclog.conf": "-rw-r--r--", "/usr/lib/tmpfiles.d/gclog.conf": "-rw-r--r--",
	"/usr/share/man/man1/gclog.1.gz": "-rw-r--r--", "/usr/share/man/man1/gclog-daemon.1.gz": "-rw-r--r--", "/usr/share/man/man5/gclog.yaml.5.gz": "-rw-r--r--",
	"/usr/share/bash-completion/completions/gclog": "-rw-r--r--", "/usr/share/fish/vendor_completions.d/gclog.fish": "-rw-r--r--",
	"/usr/share/doc/gclog/README.md": "-rw-r--r--", "/usr/share/doc/gclog/docs/manual.md": "-rw-r--r--",
	"/usr/share/doc/gclog/samples/filebeat/filebeat.yml": "-rw-r--r--", "/usr/share/doc/gclog/samples/systemd/gclog-su.conf": "-rw-r--r--", "/usr/share/doc/gclog/third-party-licenses.txt.gz": "-rw-r--r--",
}

// TestDeployPackages: all kinds of packages contain the same files, owned by root.
func TestDeployPackages(t *testing.T) {
	more := map[string][]string{
		"deb": {"/usr/share/doc/gclog/copyright", "/usr/share/doc/gclog/changelog.Debian.gz", "/usr/share/zsh/vendor-completions/_gclog"},
		"rpm": {"/usr/share/licenses/gclog/LICENSE", "/usr/share/zsh/site-functions/_gclog"},
		"apk": {"/usr/share/licenses/gclog/LICENSE", "/usr/share/zsh/site-functions/_gclog"},
	}
	lists := map[string]func(t *testing.T) string{
		"deb": func(t *testing.T) string {
			program.Needs(t, "dpkg-deb")
			return program.Must(t, "dpkg-deb", "-c", built(t, "*_amd64.deb"))
		},
		"rpm": func(t *testing.T) string {
			program.Needs(t, "rpm")
			return program.Must(t, "rpm", "-qlvp", built(t, "*.x86_64.rpm"))
		},
		// An apk is a tar file with other tar files in front of it.
		"apk": func(t *testing.T) string { return program.Must(t, "tar", "-tvzf", built(t, "*_x86_64.apk")) },
	}
	line := regexp.MustCompile(`(?m)^(-\S{9})\s.*?\broot[ /]+root\b.* \.?/?((?:etc|usr)/\S+)$`)
	for kind, list := range lists {
		t.Run(kind, func(t *testing.T) {
			there := map[string]string{}
			for _, m := range line.FindAllStringSubmatch(list(t), -1) {
				there["/"+m[2]] = m[1]
			}
			for name, mode := range inPackages {
				if there[name] != mode {
					t.Errorf("%s has mode %q, and must have %s", name, there[name], mode)
				}
			}
			for _, name := range more[kind] {
				if there[name] != "-rw-r--r--" {
					t.Errorf("%s has mode %q", name, there[name])
				}
			}
			for name, mode := range there {
				if strings.Contains(mode, "s") || mode[5] == 'w' || mode[8] == 'w' {
					t.Errorf("%s has mode %s", name, mode)
				}
			}
		})
	}
}

// A tree is a separate root file system: what maintainer scripts need, and a package database in
// which systemd is installed.
type tree struct {
	t    *testing.T
	root string
}

func newTree(t *testing.T, programs ...string) *tree {
	t.Helper()
	program.Needs(t, append(programs, "dpkg", "ldd")...)
	if !program.IsRoot() {
		t.Skip("only root can chroot")
	}
	r := &tree{t: t, root: t.TempDir()}
	if err := os.Chmod(r.root, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(programs, "sh", "mkdir", "chown", "cat", "id", "dpkg") {
		r.addProgram(name)
	}
	for _, dir := range []string{"/var/lib/dpkg/info", "/var/lib/dpkg/updates", "/var/log", "/etc", "/tmp", "/run", "/dev", "/usr/lib/sysusers.d"} {
		if err := os.MkdirAll(r.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.write("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n", 0o644)
	r.write("/etc/group", "root:x:0:\n", 0o644)
	r.write("/etc/shadow", "root:*:19000:0:99999:7:::\n", 0o640)
	r.write("/etc/gshadow", "root:*::\n", 0o640)
	r.write("/var/lib/dpkg/status", "Package: systemd\nStatus: install ok installed\nArchitecture: amd64\nMaintainer: a\nVersion: 252\nDescription: a\n\n", 0o644)
	return r
}

func (r *tree) path(name string) string { return filepath.Join(r.root, name) }

func (r *tree) write(name, text string, mode fs.FileMode) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), []byte(text), mode); err != nil {
		r.t.Fatal(err)
	}
}

func (r *tree) read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(r.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(b)
}

// addProgram copies a program and its libraries to the same paths in the tree.
func (r *tree) addProgram(name string) {
	r.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		r.t.Fatal(err)
	}
	files := []string{path}
	for _, m := range regexp.MustCompile(`(?m)(/\S+) \(0x`).FindAllStringSubmatch(program.Must(r.t, "ldd", path), -1) {
		files = append(files, m[1])
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			r.t.Fatal(err)
		}
		if f == path { // at every path where the scripts look for it
			r.write(filepath.Join("/bin", name), string(b), 0o755)
			f = filepath.Join("/usr/bin", name)
		}
		r.write(f, string(b), 0o755)
	}
}

// dpkg runs dpkg on the tree, with the maintainer scripts inside it.
func (r *tree) dpkg(args ...string) {
	r.t.Helper()
	program.Must(r.t, "dpkg", append([]string{"--root=" + r.root, "--force-not-root", "--force-bad-path", "--log=" + r.path("/dpkg.log")}, args...)...)
}

// owner returns the mode of a file and the names of its user and group in the tree.
func (r *tree) owner(name string) string {
	r.t.Helper()
	info, err := os.Stat(r.path(name))
	if err != nil {
		return "missing"
	}
	stat := info.Sys().(*syscall.Stat_t)
	named := func(file string, id uint32) string {
		for line := range strings.Lines(r.read(file)) {
			if f := strings.Split(line, ":"); f[2] == strconv.Itoa(int(id)) {
				return f[0]
			}
		}
		return strconv.Itoa(int(id))
	}
	return fmt.Sprintf("%v %s:%s", info.Mode(), named("/etc/passwd", stat.Uid), named("/etc/group", stat.Gid))
}

// withSystemctl makes systemd appear to run in the tree, and records the calls of systemctl.
func (r *tree) withSystemctl() (calls func() string) {
	r.write("/run/systemd/system/x", "", 0o644)
	r.write("/bin/systemctl", "#!/bin/sh\necho \"$@\" >>/calls\ncase \"$1\" in try-restart|--no-reload) exit 1 ;; esac\n", 0o755)
	r.write("/usr/bin/systemctl", r.read("/bin/systemctl"), 0o755)
	return func() string {
		r.t.Helper()
		said := strings.ReplaceAll(strings.TrimSpace(r.read("/calls")), "\n", "; ")
		if err := os.Remove(r.path("/calls")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.t.Fatal(err)
		}
		return said
	}
}

// TestDeployInstall installs the Debian package into a separate root, with each way to create the
// user, and removes it: nothing is enabled, and the administrator's changes and the logs stay.
func TestDeployInstall(t *testing.T) {
	for _, how := range []string{"systemd-sysusers", "useradd"} {
		t.Run(how, func(t *testing.T) {
			deb := built(t, "gclog_*_amd64.deb")
			r := newTree(t, how)
			calls := r.withSystemctl()
			expect := func(what, want string) {
				t.Helper()
				if got := calls(); got != want {
					t.Errorf("%s: systemctl was told %q, not %q", what, got, want)
				}
			}

			r.dpkg("-i", deb)
			expect("install", "daemon-reload; try-restart gclog.service")
			if out := program.Must(t, "chroot", r.root, "/usr/bin/gclog", "version"); !strings.HasPrefix(out, "gclog ") {
				t.Errorf("gclog version: %s", out)
			}
			for name, want := range map[string]string{
				"/usr/bin/gclog": "-rwxr-xr-x root:root", "/etc/gclog/gclog.yaml": "-rw-r--r-- root:root", "/var/log/gclog": "drwxr-x--- gclog:gclog",
			} {
				if got := r.owner(name); got != want {
					t.Errorf("%s is %s, and must be %s", name, got, want)
				}
			}
			user := regexp.MustCompile(`(?m)^gclog:\S+?:(\d+):\d+:.*:/var/log/gclog:/usr/sbin/nologin$`).FindStringSubmatch(r.read("/etc/passwd"))
			if user == nil {
				t.Fatalf("the user: %s", r.read("/etc/passwd"))
			}
			if id, _ := strconv.Atoi(user[1]); id == 0 || id >= 1000 {
				t.Errorf("the user has the number %d: it is no system user", id)
			}
			for _, enabled := range []string{"/etc/systemd/system/multi-user.target.wants/gclog.service", "/var/lib/systemd/deb-systemd-helper-enabled"} {
				if r.owner(enabled) != "missing" {
					t.Errorf("the daemon was enabled: %s", enabled)
				}
			}

			// An upgrade leaves other files alone, and does not stop the daemon.
			const changed = "version: 1 # mine\n"
			r.write("/etc/gclog/gclog.yaml", changed, 0o644)
			r.write("/var/log/gclog/shop-7.json", "{}\n", 0o640)
			users := r.read("/etc/passwd")
			r.dpkg("-i", deb)
			expect("upgrade", "daemon-reload; daemon-reload; try-restart gclog.service")
			if r.read("/etc/gclog/gclog.yaml") != changed || r.read("/etc/passwd") != users {
				t.Error("the upgrade changed the configuration or the users")
			}

			r.dpkg("-r", "gclog")
			expect("removal", "--no-reload disable --now gclog.service; daemon-reload")
			if r.owner("/usr/bin/gclog") != "missing" || r.read("/etc/gclog/gclog.yaml") != changed {
				t.Error("after the removal the program is there, or the configuration is not")
			}
			r.dpkg("-P", "gclog")
			expect("purge", "daemon-reload")
			if r.owner("/etc/gclog/gclog.yaml") != "missing" || r.owner("/usr/share/doc/gclog") != "missing" {
				t.Error("the purge left the configuration or the documents")
			}
			if r.read("/var/log/gclog/shop-7.json") != "{}\n" || r.read("/etc/passwd") != users {
				t.Error("the purge took the logs or their user away")
			}
		})
	}
}

// TestDeployRPM: the scripts recognize an installation, an upgrade and a removal by rpm's
// arguments, which differ from dpkg's.
func TestDeployRPM(t *testing.T) {
	program.Needs(t, "rpm")
	file := built(t, "*.x86_64.rpm")
	r := newTree(t, "useradd")
	calls := r.withSystemctl()
	rpm := func(what, want string, args ...string) {
		t.Helper()
		program.Must(t, "rpm", append([]string{"--root=" + r.root, "--nodeps"}, args...)...)
		if got := calls(); got != want {
			t.Errorf("%s: systemctl was told %q, not %q", what, got, want)
		}
	}
	rpm("installation", "daemon-reload; try-restart gclog.service", "-i", file)
	if got, want := r.owner("/var/log/gclog"), "drwxr-x--- gclog:gclog"; got != want {
		t.Errorf("/var/log/gclog is %s, and must be %s", got, want)
	}
	const changed = "version: 1 # mine\n"
	r.write("/etc/gclog/gclog.yaml", changed, 0o644)
	r.write("/var/log/gclog/shop-7.json", "{}\n", 0o640)
	rpm("upgrade", "daemon-reload; try-restart gclog.service; daemon-reload", "-U", "--replacepkgs", file)
	if r.read("/etc/gclog/gclog.yaml") != changed {
		t.Error("the upgrade changed the configuration")
	}
	rpm("removal", "--no-reload disable --now gclog.service; daemon-reload", "-e", "gclog")
	if r.owner("/usr/bin/gclog") != "missing" || r.read("/var/log/gclog/shop-7.json") != "{}\n" {
		t.Error("after the removal the program is there, or the logs are not")
	}
}

// TestDeployTmpfiles: the folder of the logs is created as the unit creates it.
func TestDeployTmpfiles(t *testing.T) {
	program.Needs(t, "systemd-tmpfiles")
	r := newTree(t, "systemd-sysusers")
	program.Must(t, "cp", "-a", unpacked(t)+"/.", r.root)
	program.Must(t, "systemd-sysusers", "--root="+r.root, "gclog.conf")
	program.Must(t, "systemd-tmpfiles", "--root="+r.root, "--create", "gclog.conf")
	if got, want := r.owner("/var/log/gclog"), "drwxr-x--- gclog:gclog"; got != want {
		t.Errorf("/var/log/gclog is %s, and must be %s", got, want)
	}
}

// TestDeployImage: the image of the Containerfile runs without anything else, and not as root.
func TestDeployImage(t *testing.T) {
	program.Needs(t, "buildah")
	if !program.IsRoot() {
		t.Skip("buildah needs root, or more preparation than a test should make")
	}
	context := filepath.Dir(built(t, "SHA256SUMS"))
	dir := t.TempDir()
	buildah := func(args ...string) string {
		t.Helper()
		return program.Must(t, "buildah", append([]string{"--storage-driver", "vfs", "--root", filepath.Join(dir, "root"), "--runroot", filepath.Join(dir, "run")}, args...)...)
	}
	buildah("build", "--platform", "linux/amd64", "--isolation", "chroot", "-f", filepath.Join("samples", "container", "Containerfile"), "-t", "gclog", context)
	config := buildah("inspect", "--type", "image", "--format", "{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Env}}", "localhost/gclog")
	if want := "65532:65532 [/usr/bin/gclog] [PATH=/usr/bin]"; strings.TrimSpace(config) != want {
		t.Errorf("the image has %q, not %q", config, want)
	}
	container := strings.TrimSpace(buildah("from", "localhost/gclog"))
	mount := strings.TrimSpace(buildah("mount", container))
	var files []string
	if err := filepath.WalkDir(mount, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, strings.TrimPrefix(path, mount))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(files, []string{"/usr/bin/gclog"}) {
		t.Errorf("the image holds %q", files)
	}
	if out := program.Must(t, "chroot", "--userspec=65532:65532", mount, "/usr/bin/gclog", "version"); !strings.HasPrefix(out, "gclog ") {
		t.Errorf("gclog version: %s", out)
	}
	buildah("rm", container)
}

// TestDeployLogrotate: logrotate renames the logs, signals gclog once, creates no file in their
// place, and compresses those that are one rotation older.
func TestDeployLogrotate(t *testing.T) {
	program.Needs(t, "logrotate")
	dir := t.TempDir()
	b, err := os.ReadFile(filepath.Join("samples", "logrotate", "gclog"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte("\tsu gclog gclog\n")) {
		t.Error("logrotate refuses folders that another user may write to, without su")
	}
	text := strings.NewReplacer("/var/log/gclog", dir, "\tsu gclog gclog\n", "", "systemctl", filepath.Join(dir, "systemctl")).Replace(string(b))
	conf, calls := filepath.Join(dir, "conf"), filepath.Join(dir, "calls")
	write := func(name, text string, mode fs.FileMode) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(conf, text, 0o644)
	write(filepath.Join(dir, "systemctl"), "#!/bin/sh\necho \"$@\" >>"+calls+"\n", 0o755)
	for i := range 2 {
		write(filepath.Join(dir, "a.json"), fmt.Sprintf("%d\n", i), 0o640)
		write(filepath.Join(dir, "b.json"), fmt.Sprintf("%d\n", i), 0o640)
		program.Must(t, "logrotate", "-f", "-s", filepath.Join(dir, "state"), conf)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	if want := []string{"a.json.1", "a.json.2.gz", "b.json.1", "b.json.2.gz"}; !slices.Equal(names, want) {
		t.Errorf("after two rotations there are %q, not %q", names, want)
	}
	said, err := os.ReadFile(calls)
	if want := strings.Repeat("kill --signal=HUP gclog.service\n", 2); err != nil || string(said) != want {
		t.Errorf("systemctl was told %q: %v", said, err)
	}
}
