package cli

import (
	"regexp"
	"slices"
	"testing"

	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/urfave/cli/v2"
)

// vocabulary are the flags that mean the same in all commands: their other names, and the word for their
// value, which no other flag has.
var vocabulary = map[string]struct {
	aliases []string
	value   string
}{
	flags.Output: {[]string{"o"}, ""},
	flags.Format: {[]string{"f"}, "FORMAT"},
	flags.For:    {[]string{"duration"}, ""},
	flags.PID:    {[]string{"p", "process-id"}, "PID"},
	flags.Name:   {[]string{"n"}, "NAME"},
	flags.On:     {nil, "RULE"},
	flags.FailIf: {nil, "CONDITION"},
	flags.Config: {[]string{"c"}, ""},
}

var placeholder = regexp.MustCompile("`([^`]+)`")

// TestVocabulary: in all commands a flag with the same meaning has the same name, and a name has the
// same meaning: the same aliases and the same word for its value.
func TestVocabulary(t *testing.T) {
	type meaning struct{ command, flag, value string }
	byName, byUsage := map[string]meaning{}, map[string]meaning{}
	seen := map[string]bool{}
	for name, subject := range subjects(t) {
		c, ok := subject.(*cli.Command)
		if !ok {
			continue
		}
		for _, f := range c.Flags {
			flag, aliases := f.Names()[0], f.Names()[1:]
			usage := f.(cli.DocGenerationFlag).GetUsage()
			x := meaning{name, flag, ""}
			if m := placeholder.FindStringSubmatch(usage); m != nil {
				x.value = m[1]
			}
			seen[flag] = true
			if w, known := vocabulary[flag]; known && !slices.Equal(aliases, w.aliases) {
				t.Errorf("%s: --%s is also called %q, elsewhere %q", name, flag, aliases, w.aliases)
			}
			for other, w := range vocabulary {
				if w.value != "" && x.value == w.value && flag != other {
					t.Errorf("%s: --%s takes a %s: elsewhere that is --%s", name, flag, x.value, other)
				}
			}
			for _, spelling := range f.Names() {
				if other, known := byName[spelling]; known && (other.flag != flag || other.value != x.value) {
					t.Errorf("%s: %s is --%s %s, and in %s --%s %s", name, spelling, flag, x.value, other.command, other.flag, other.value)
				}
				byName[spelling] = x
			}
			if other, known := byUsage[usage]; usage != "" && known && other.flag != flag {
				t.Errorf("%s: --%s means the same as --%s in %s: %s", name, flag, other.flag, other.command, usage)
			}
			byUsage[usage] = x
		}
	}
	for flag := range vocabulary {
		if !seen[flag] {
			t.Errorf("no command has --%s", flag)
		}
	}
}
