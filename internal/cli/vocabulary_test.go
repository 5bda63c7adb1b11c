package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// vocabulary are the flags that mean the same in all commands: their names, and the word for their value.
var vocabulary = map[string]struct {
	aliases []string
	value   string
}{
	"output": {[]string{"o"}, "FILE"},
	"format": {[]string{"f"}, "FORMAT"},
}

var placeholder = regexp.MustCompile("`([^`]+)`")

// TestVocabulary: in all commands a flag with the same meaning has the same name, and a name has the
// same meaning.
func TestVocabulary(t *testing.T) {
	byShort, byUsage := map[string]string{}, map[string]string{}
	seen := map[string]int{}
	for name, subject := range subjects(t) {
		c, ok := subject.(*cli.Command)
		if !ok {
			continue
		}
		for _, f := range c.Flags {
			flag, aliases := f.Names()[0], f.Names()[1:]
			usage := f.(cli.DocGenerationFlag).GetUsage()
			value := ""
			if m := placeholder.FindStringSubmatch(usage); m != nil {
				value = m[1]
			}
			seen[flag]++
			if w, known := vocabulary[flag]; known && (!slices.Equal(aliases, w.aliases) || value != w.value) {
				t.Errorf("%s: --%s has the aliases %q and the value %s, elsewhere %q and %s", name, flag, aliases, value, w.aliases, w.value)
			}
			for other, w := range vocabulary {
				if value == w.value && flag != other && slices.Contains([]string{"FORMAT"}, value) {
					t.Errorf("%s: --%s takes a %s: elsewhere that is --%s", name, flag, value, other)
				}
			}
			for _, alias := range aliases {
				if other, known := byShort[alias]; known && other != flag {
					t.Errorf("%s: -%s is --%s, elsewhere --%s", name, alias, flag, other)
				}
				byShort[alias] = flag
			}
			if other, known := byUsage[usage]; usage != "" && known && other != flag {
				t.Errorf("%s: --%s means the same as --%s elsewhere: %s", name, flag, other, usage)
			}
			byUsage[usage] = flag
		}
	}
	for flag := range vocabulary {
		if seen[flag] < 2 {
			t.Errorf("--%s is a flag of %d commands", flag, seen[flag])
		}
	}
	if len(seen) == 0 || strings.Contains(byShort["o"], " ") {
		t.Error("no flags were found")
	}
}
