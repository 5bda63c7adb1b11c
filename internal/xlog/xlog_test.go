package xlog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
)

// show returns an output in a normal form: everything that was parsed.
func show(o *Output) string {
	var levels []string
	for i, name := range formats.TagSets() {
		if l := o.Selection.Levels[i]; l > formats.LevelOff {
			levels = append(levels, name+"="+formats.LevelNames[l])
		}
	}
	return fmt.Sprintf("%s to %s with %s, %s files of %s", strings.Join(levels, ","), o.Path, named(o.Selection.Decorators), o.FileCount, o.FileSize)
}

func TestParse(t *testing.T) {
	all := func(level string) string {
		return strings.Join(formats.TagSets(), "="+level+",") + "=" + level
	}
	ofGC := func(level string) string { return strings.TrimSuffix(all(level), ",safepoint="+level) }
	const usual = " with time,uptime,level,tags,  files of "
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"-Xlog"}, []string{all("info") + " to stdout" + usual}},
		{[]string{"-Xlog:all=trace"}, []string{all("trace") + " to stdout" + usual}},
		{[]string{"-Xlog:gc"}, []string{"gc=info to stdout" + usual}},
		{[]string{"-verbose:gc"}, []string{"gc=info to stdout" + usual}},
		{[]string{"-Xlog:gc*"}, []string{ofGC("info") + " to stdout" + usual}},
		{[]string{"-Xloggc:C:\\logs\\gc.log"}, []string{ofGC("info") + " to C:\\logs\\gc.log" + usual}},
		{[]string{"-Xlog:gc*:file=gc-%p.log:tags,level,t,u:filecount=7,filesize=10m"}, []string{ofGC("info") + " to gc-%p.log with time,uptime,level,tags, 7 files of 10m"}},
		{[]string{"-Xlog:gc:gc.log"}, []string{"gc=info to gc.log" + usual}},
		{[]string{"-Xlog::gc.log:none"}, []string{all("info") + " to gc.log with none,  files of "}},
		{[]string{`-Xlog:gc:file="a b:c,d.log":utc,hn:foldmultilines=true`}, []string{"gc=info to a b:c,d.log with utctime,hostname,  files of "}},
		{[]string{`-Xlog:gc:file=D:\gc.log:pid,ti`}, []string{`gc=info to D:\gc.log with pid,tid,  files of `}},
		{[]string{"-Xlog:gc:d:/gc.log"}, []string{"gc=info to d:/gc.log" + usual}},
		// HotSpot's selections: exact sets, all sets that contain the tags, the last one takes
		// precedence.
		{[]string{"-Xlog:gc+heap=debug,safepoint"}, []string{"gc+heap=debug,safepoint=info to stdout" + usual}},
		{[]string{"-Xlog:heap+gc=debug"}, []string{"gc+heap=debug to stdout" + usual}},
		{[]string{"-Xlog:heap*"}, []string{"gc+heap=info to stdout" + usual}},
		{[]string{"-Xlog:all=error,gc=info"}, []string{"gc=info," + strings.TrimPrefix(all("error"), "gc=error,") + " to stdout" + usual}},
		{[]string{"-Xlog:gc*=debug,gc+phases=off,gc+ref=warning"}, []string{
			strings.Replace(strings.Replace(ofGC("debug"), "gc+ref=debug", "gc+ref=warning", 1), ",gc+phases=debug", "", 1) + " to stdout" + usual,
		}},
		// Selections for one output add up, several outputs stay separate.
		{[]string{"-Xlog:gc:a.log", "-Xlog:safepoint:file=a.log:uptime", "gc+cpu:stderr"}, []string{"gc=info,safepoint=info to a.log with uptime,  files of ", "gc+cpu=info to stderr" + usual}},
		{[]string{"-Xlog:gc:a.log", "-Xlog:disable", "-Xlog:gc:b.log"}, []string{"gc=info to b.log" + usual}},
		{[]string{"-Xlog:disable"}, nil},
	} {
		c, err := Parse(test.args)
		if err != nil {
			t.Errorf("%q: %v", test.args, err)
			continue
		}
		var got []string
		for i := range c.Outputs {
			got = append(got, show(&c.Outputs[i]))
		}
		if !slices.Equal(got, test.want) || len(c.Warnings) > 0 {
			t.Errorf("%q:\n got %q %q\nwant %q", test.args, got, c.Warnings, test.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for arg, want := range map[string]string{
		"-Xlog:gc=loud":                     "invalid level 'loud' in log selection",
		"-Xlog:gc+":                         "a tag is missing",
		"-Xlog:,gc":                         "a tag is missing",
		"-Xlog:gc::time,hour":               "invalid decorator 'hour'",
		"-Xlog:gc:file=":                    "an output without a name",
		`-Xlog:gc:file="a.log`:              "quotation mark",
		"-Xlog:gc:a.log::files=3":           "invalid option 'files' for log output",
		"-Xlog:gc:a.log::foldmultilines=no": "invalid value 'no' for option 'foldmultilines'",
		"-Xlog:disable:a.log":               "nothing can follow disable",
		"-Xloggc:":                          "needs the name of a file",
	} {
		if _, err := Parse([]string{arg}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), arg+": ") {
			t.Errorf("%s: %v, want %q", arg, err, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	c, err := Parse([]string{"-Xlog:gc,class+load*,gc+heap+exit:a.log"})
	if err != nil || len(c.Warnings) != 2 || !strings.HasPrefix(c.Warnings[0], "No tag set matches selection: class+load*.") || !strings.Contains(c.Warnings[1], ": gc+heap+exit.") {
		t.Errorf("%q, error %v", c.Warnings, err)
	}
	for arg, want := range map[string]int{"-Xlog:gc*:a.log": 1, "-Xlog:gc,gc+phases=debug:a.log": 1, "-Xlog:gc*,gc+phases=off:a.log": 0, "-Xlog:gc+phases:a.log": 0, "-Xlog:gc*:a.log:uptime,pid": 1, "-Xlog:gc*=debug:a.log": 1, "-Xlog:gc*=debug:a.log:time,uptime,tags": 2} {
		c, err := Parse([]string{arg})
		if err != nil {
			t.Fatal(err)
		}
		warnings := c.Outputs[0].ReaderWarnings()
		phases := slices.ContainsFunc(warnings, func(w string) bool {
			return strings.HasPrefix(w, "GCViewer will report each line of gc+phases in a.log ")
		})
		if len(warnings) != want || phases != (want > 0 && !strings.Contains(arg, "pid")) {
			t.Errorf("%s: %q", arg, warnings)
		}
	}
	for _, arg := range []string{"-Xlog:safepoint:a.log:pid", "-Xlog:gc::none", "-Xlog:gc:stderr:none"} {
		if c, err = Parse([]string{arg}); err != nil || len(c.Outputs[0].ReaderWarnings()) != 0 {
			t.Errorf("no reader is meant to read it: %q, error %v", c.Outputs[0].ReaderWarnings(), err)
		}
	}
}

func TestFields(t *testing.T) {
	got := Fields("  gc*:file=\"a b.log\"\t-Xlog:safepoint \n")
	if want := []string{`gc*:file="a b.log"`, "-Xlog:safepoint"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestIsOption(t *testing.T) {
	for arg, want := range map[string]bool{
		"-Xlog": true, "-Xlog:gc": true, "-Xloggc:a": true, "-verbose:gc": true, "-Xlogger": false, "-verbose": false, "--xlog": false, "gc": false,
	} {
		if IsOption(arg) != want {
			t.Errorf("%s", arg)
		}
	}
}
