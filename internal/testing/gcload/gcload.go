// Package gcload finds real .NET runtimes with a load program whose garbage collections are known,
// and runs them: for tests, and for the demonstration of the Makefile. testdata/dotnet contains one
// runtime, a folder of shared recordings contains more.
package gcload

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/klauspost/compress/zstd"
)

// A Runtime is an unpacked runtime with its load program.
type Runtime struct {
	Name  string // net10, core31, aot8, ...
	Major int    // version: 10, 3, 8, ...
	AOT   bool   // the program is compiled by NativeAOT

	dir    string
	files  []string // in the archive, if it is packed
	packed *packed
}

// ErrPlatform is returned on other platforms than linux/amd64, for which the repository has no
// runtime.
var ErrPlatform = errors.New("the .NET runtime in testdata/dotnet is for linux/amd64")

// FromRepository unpacks the repository's runtime into bin/dotnet, unless it is there already.
func FromRepository() (*Runtime, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return nil, ErrPlatform
	}
	packed := filepath.Join(recordings.Root(), "testdata", "dotnet", "net10.tar.zst")
	want, err := checksum(packed)
	if err != nil {
		return nil, err
	}
	to := filepath.Join(recordings.Root(), "bin", "dotnet", "net10-"+want[:12])
	r := &Runtime{Name: "net10", Major: 10, dir: filepath.Join(to, "net10")}
	if _, err := os.Stat(filepath.Join(r.dir, "gcload")); err == nil {
		return r, nil
	}
	return r, unpack(packed, to)
}

// checksum compares the packed runtime with SHA256SUMS in the same folder.
func checksum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	sums, err := os.ReadFile(filepath.Join(filepath.Dir(path), "SHA256SUMS"))
	if err != nil {
		return "", err
	}
	if !strings.Contains(string(sums), sum+"  "+filepath.Base(path)) {
		return "", fmt.Errorf("%s is damaged: its checksum is not that of SHA256SUMS", path)
	}
	return sum, nil
}

// unpack unpacks a .tar.zst.
func unpack(packed, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.Open(packed)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return err
	}
	defer z.Close()
	return makeFolder(to, func(part string) error {
		if err := extract(tar.NewReader(z), part); err != nil {
			return fmt.Errorf("unpacking %s: %w", packed, err)
		}
		return nil
	})
}

// makeFolder makes a folder with the contents that fill writes. It fills another one beside it and
// renames that, so that several tests can do it at once.
func makeFolder(to string, fill func(part string) error) error {
	part, err := os.MkdirTemp(filepath.Dir(to), "part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	if err := fill(part); err != nil {
		return err
	}
	if err := os.Chmod(part, 0o755); err != nil {
		return err
	}
	if err := os.Rename(part, to); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func extract(t *tar.Reader, to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(strings.TrimSuffix(h.Name, "/"), 0o755)
		case tar.TypeReg:
			err = writeFile(root, h.Name, fs.FileMode(h.Mode)&0o755|0o600, t)
		}
		if err != nil {
			return err
		}
	}
}

func writeFile(root *os.Root, name string, mode fs.FileMode, r io.Reader) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// Flavours are the GC configurations. Not every runtime has all of them.
var Flavours = []string{"wks", "wks-nc", "svr", "svr-nc", "datas", "conserve", "clrgc", "clrgcexp", "hardlimit", "small"}

// knobs are the settings of the flavours. Numbers are hexadecimal without 0x: NativeAOT ignores
// numbers with that prefix.
var knobs = map[string][]string{
	"wks":       {"gcServer=0", "gcConcurrent=1"},
	"wks-nc":    {"gcServer=0", "gcConcurrent=0"},
	"svr":       {"gcServer=1", "gcConcurrent=1", "GCHeapCount=2", "GCNoAffinitize=1", "GCDynamicAdaptationMode=0"},
	"svr-nc":    {"gcServer=1", "gcConcurrent=0", "GCHeapCount=2", "GCNoAffinitize=1", "GCDynamicAdaptationMode=0"},
	"datas":     {"gcServer=1", "gcConcurrent=1", "GCDynamicAdaptationMode=1"},
	"conserve":  {"gcServer=0", "gcConcurrent=1", "GCConserveMemory=7"},
	"clrgc":     {"gcServer=0", "gcConcurrent=1", "GCName=libclrgc.so"},
	"clrgcexp":  {"gcServer=0", "gcConcurrent=1", "GCName=libclrgcexp.so"},
	"hardlimit": {"gcServer=0", "gcConcurrent=1", "GCHeapHardLimit=6000000"},
	"small":     {"gcServer=0", "gcConcurrent=1", "GCgen0size=400000"},
}

// Has reports whether the runtime has a flavour.
func (r *Runtime) Has(flavour string) bool {
	switch flavour {
	case "datas", "conserve":
		return r.Major >= 5
	case "clrgc", "clrgcexp":
		return r.contains("lib" + flavour + ".so")
	}
	return knobs[flavour] != nil
}

// Program returns the path of the load program for a flavour: a NativeAOT program is linked with
// one kind of GC.
func (r *Runtime) Program(flavour string) string {
	if r.AOT && slices.Contains(knobs[flavour], "gcServer=1") {
		return filepath.Join(r.Dir(), "gcload-svr")
	}
	return filepath.Join(r.Dir(), "gcload")
}

// Environment returns env with the settings of a flavour and further ones (Name=value, without
// prefix), and without those of other flavours. .NET Core 3.1 uses another prefix, so both are set.
func (r *Runtime) Environment(env []string, flavour string, more ...string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		return strings.HasPrefix(e, "DOTNET_") || strings.HasPrefix(e, "COMPlus_")
	})
	for _, k := range append(slices.Clone(knobs[flavour]), more...) {
		out = append(out, "DOTNET_"+k, "COMPlus_"+k)
	}
	return out
}

// project builds the load program with whatever .NET SDK is installed.
const project = `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net%s</TargetFramework>
    <AssemblyName>gcload</AssemblyName>
    <AllowUnsafeBlocks>true</AllowUnsafeBlocks>
    <InvariantGlobalization>true</InvariantGlobalization>
  </PropertyGroup>
</Project>
`

// Installed builds the load program with the .NET SDK on the PATH, in dir.
func Installed(dir string) (*Runtime, error) {
	out, err := exec.Command("dotnet", "--version").Output()
	if err != nil {
		return nil, err
	}
	major, _, ok := strings.Cut(strings.TrimSpace(string(out)), ".")
	if !ok {
		return nil, fmt.Errorf("dotnet --version says %q", out)
	}
	src := filepath.Join(recordings.Root(), "testdata", "dotnet", "src")
	if err := os.CopyFS(dir, os.DirFS(src)); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "gcload.csproj"), fmt.Appendf(nil, project, major+".0"), 0o600); err != nil {
		return nil, err
	}
	to := filepath.Join(dir, "out")
	cmd := exec.Command("dotnet", "build", "-c", "Release", "-o", to, "--nologo")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the load program: %w: %s", err, out)
	}
	version, err := strconv.Atoi(major)
	return &Runtime{Name: "installed", Major: version, dir: to}, err
}
