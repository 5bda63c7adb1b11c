package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // the parser needs the packagers
	_ "github.com/goreleaser/nfpm/v2/deb"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// TestSamePackages: goreleaser's packages contain the same files as those of "make package".
// goreleaser itself cannot run without publishing; its own parser, which is strict, reads the file.
func TestSamePackages(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	project, err := config.Load(".goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(project.NFPMs) != 1 || len(project.Builds) != 1 || len(project.DockersV2) != 1 {
		t.Fatal("it is one program, in packages and an image")
	}
	theirs := project.NFPMs[0]
	ours, err := nfpm.ParseFileWithEnvMapping(filepath.Join("packaging", "nfpm.yaml"), func(name string) string {
		return map[string]string{"GOARCH": "amd64", "VERSION": "1.2.3"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}

	name := func(packager, from, to, kind string) string { return packager + " " + from + " " + to + " " + kind }
	var here, there []string
	for _, c := range ours.Contents {
		if c.Destination == "/usr/bin/gclog" {
			continue // goreleaser adds what it built
		}
		here = append(here, name(c.Packager, c.Source, c.Destination, c.Type))
		if source := c.Source; !built(source) {
			if _, err := os.Stat(source); err != nil {
				t.Error(err)
			}
		}
	}
	for _, c := range theirs.Contents {
		there = append(there, name(c.Packager, c.Source, c.Destination, c.Type))
	}
	if !slices.Equal(here, there) {
		t.Errorf("the contents differ:\n%q\n%q", here, there)
	}
	pairs := map[string][2]string{
		"description": {ours.Description, theirs.Description},
		"maintainer":  {ours.Maintainer, theirs.Maintainer},
		"homepage":    {ours.Homepage, theirs.Homepage},
		"license":     {ours.License, theirs.License},
		"section":     {ours.Section, theirs.Section},
		"release":     {ours.Release, theirs.Release},
		"postinstall": {ours.Scripts.PostInstall, theirs.Scripts.PostInstall},
		"preremove":   {ours.Scripts.PreRemove, theirs.Scripts.PreRemove},
		"postremove":  {ours.Scripts.PostRemove, theirs.Scripts.PostRemove},
		"postupgrade": {ours.APK.Scripts.PostUpgrade, theirs.APK.Scripts.PostUpgrade},
	}
	for what, x := range pairs {
		if x[0] != x[1] || x[0] == "" {
			t.Errorf("%s: %q and %q", what, x[0], x[1])
		}
	}
	for format, x := range theirs.Overrides {
		if other := ours.Overrides[format]; other == nil || !slices.Equal(other.Depends, x.Dependencies) {
			t.Errorf("%s depends on %v, there on %+v", format, x.Dependencies, other)
		}
	}
	if len(ours.Overrides) != len(theirs.Overrides) {
		t.Errorf("%d packages differ, there %d", len(theirs.Overrides), len(ours.Overrides))
	}
	if file := project.DockersV2[0].Dockerfile; file != filepath.Join("samples", "container", "Containerfile") {
		t.Errorf("the image is made of %s", file)
	}
}

// built reports whether a file is created by "make package".
func built(source string) bool { return strings.HasPrefix(source, "bin/") }
