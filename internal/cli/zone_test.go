package cli

import (
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/urfave/cli/v2"
)

func TestZoneOf(t *testing.T) {
	local := time.Local.String() // Go asks for it once: from here on TZ does not change it
	for _, test := range []struct {
		tz   string
		args []string
		want string
	}{
		{"", nil, ""},
		{"", []string{"--local=false"}, ""},
		{"", []string{"--local"}, local + " --local"},
		{"Europe/Berlin", nil, "Europe/Berlin TZ"},
		{":Europe/Berlin", []string{"--local"}, "Europe/Berlin TZ"},
		{"Europe/Berlin", []string{"--local=false"}, ""},
		{"Nowhere/Nothing", nil, ""},
		{"../../etc/passwd", nil, ""},
		{"/etc/passwd", nil, ""},
	} {
		t.Setenv("TZ", test.tz)
		set := flag.NewFlagSet("", flag.ContinueOnError)
		set.Bool(flags.Local, false, "")
		if err := set.Parse(test.args); err != nil {
			t.Fatal(err)
		}
		got := ""
		p := &commands{&program.Run{UI: program.NewUI(io.Discard)}}
		if z := subject.Zone(p.Run, cli.NewContext(nil, set, nil)); z.Local != nil {
			got = z.Local.String() + " " + z.From
		}
		if got != test.want {
			t.Errorf("TZ=%s %v: %s, want %s", test.tz, test.args, got, test.want)
		}
	}
	var said strings.Builder
	t.Setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
	p := &commands{&program.Run{UI: program.NewUI(&said), Unfiltered: io.Discard}}
	if err := p.app().Run([]string{"gclog", "pauses", trace("net10-datas-bgc")}); err != nil || strings.Count(said.String(), "is unknown on this machine") != 1 {
		t.Errorf("%v, %s", err, said.String())
	}
}
