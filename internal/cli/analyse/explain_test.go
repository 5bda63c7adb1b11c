package analyse

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/history"
)

// TestExplainHostile: text from a process does not reach the terminal unchanged.
func TestExplainHostile(t *testing.T) {
	d := &gclog.GCDetails{Number: 1, Known: gclog.GroupNumber, Pauses: []gclog.PausePart{{Duration: 5}}}
	h := &history.History{Process: &gclog.Process{ID: 7, Name: "a\x1b[2Jb\nc\u009b", RuntimeVersion: "\x1b]0;x\a"}}
	e := analysis.Explain(d, analysis.Context{Process: h.Process, Log: "\x1b[31m"})
	var out bytes.Buffer
	p := &commands{&program.Run{Unfiltered: &out, Out: program.NewPrinter(&out)}}
	p.printExplanation(h, d, &e)
	if err := p.PrintJSON(&e); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\u009b\a") {
		t.Errorf("%q", out.String())
	}
	if !strings.Contains(out.String(), "b c") {
		t.Errorf("the name is missing: %q", out.String())
	}
}

// TestExplainUnseenKind: a kind that was not observed is not named.
func TestExplainUnseenKind(t *testing.T) {
	for _, tt := range []struct {
		flaws gclog.Flaw
		json  bool
		head  string
	}{{0, true, "Why gen1, and why blocking"}, {gclog.FlawNoStart, false, "Why gen1\n"}} {
		d := &gclog.GCDetails{Number: 1, Known: gclog.GroupNumber, Generation: 1, Flaws: tt.flaws}
		h := &history.History{Process: &gclog.Process{ID: 7}}
		e := analysis.Explain(d, analysis.Context{Process: h.Process})
		var out bytes.Buffer
		p := &commands{&program.Run{Unfiltered: &out, Out: program.NewPrinter(&out)}}
		p.printExplanation(&history.History{}, d, &e)
		if !strings.Contains(out.String(), tt.head) {
			t.Errorf("no %q in\n%s", tt.head, out.String())
		}
		out.Reset()
		if err := p.PrintJSON(ExplanationJSON(p.Run, h, d, &e)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), `"type":"blocking"`); got != tt.json {
			t.Errorf("%v: %s", tt.flaws, out.String())
		}
	}
}

func TestExplainArguments(t *testing.T) {
	tests := []struct {
		args   string
		names  string
		number uint32
		wanted bool
		fails  bool
		byFlag bool
	}{
		{"a.nettrace", "a.nettrace", 0, false, false, false},
		{"4711", "4711", 0, false, false, false},
		{"4711 12", "4711", 12, true, false, false},
		{"a.json b.json 0", "a.json b.json", 0, true, false, false},
		{"- 4294967295", "-", 4294967295, true, false, false},
		{"a.json 4294967296", "", 0, false, true, false},
		{"a.json ./12", "a.json ./12", 0, false, false, false},
		{"", "", 0, false, false, false},
		{"12", "", 12, true, false, true},
		{"", "", 0, false, false, true},
		{"MyApp 12", "MyApp", 12, true, false, true},
		{"MyApp", "MyApp", 0, false, false, true},
	}
	for _, tt := range tests {
		names, number, wanted, err := explainArguments(strings.Fields(tt.args), tt.byFlag)
		if strings.Join(names, " ") != tt.names || number != tt.number || wanted != tt.wanted || (err != nil) != tt.fails {
			t.Errorf("%s: %q, %d, %v, %v", tt.args, names, number, wanted, err)
		}
	}
}
