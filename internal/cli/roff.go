package cli

import (
	"fmt"
	"strings"
)

// A roff writes a manual page with the macros that man and mandoc support.
type roff struct{ b strings.Builder }

func newRoff(name string, section int, version string) *roff {
	r := &roff{}
	// No date: the same sources give the same page. No hyphenation and no justification: names of
	// flags must not be broken.
	fmt.Fprintf(&r.b, ".TH %s %d \"\" %s \"gclog manual\"\n.nh\n.ad l\n",
		roffWord(strings.ToUpper(name)), section, roffWord("gclog "+version))
	return r
}

// title writes the section that apropos and whatis read.
func (r *roff) title(name, about string) {
	r.section("NAME")
	r.b.WriteString(roffText(name) + ` \- ` + roffText(about) + "\n")
}

func (r *roff) section(name string) { fmt.Fprintf(&r.b, ".SH %s\n", roffWord(name)) }

func (r *roff) subsection(name string) { fmt.Fprintf(&r.b, ".SS %s\n", roffWord(name)) }

// paragraph writes text that is filled into lines.
func (r *roff) paragraph(text string) { r.b.WriteString(".PP\n" + roffLines(text)) }

// tagged writes a term with its description below it.
func (r *roff) tagged(term, about string) { r.b.WriteString(".TP\n" + term + "\n" + roffLines(about)) }

// verbatim writes lines unchanged.
func (r *roff) verbatim(text string) {
	r.b.WriteString(".PP\n.RS 4\n.EX\n" + roffLines(text) + ".EE\n.RE\n")
}

func (r *roff) String() string { return r.b.String() }

// roffText escapes what roff would interpret, or replace by typographic signs: a command line must
// be printed as it can be typed.
func roffText(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch c {
		case '\\':
			b.WriteString(`\[rs]`)
		case '-':
			b.WriteString(`\-`)
		case '~':
			b.WriteString(`\[ti]`)
		case '^':
			b.WriteString(`\[ha]`)
		case '`':
			b.WriteString(`\[ga]`)
		case '\'':
			b.WriteString(`\[aq]`)
		default:
			if c > '~' {
				fmt.Fprintf(&b, `\[u%04X]`, c)
				continue
			}
			b.WriteRune(c)
		}
	}
	return b.String()
}

// roffWord returns text as one argument of a macro.
func roffWord(s string) string {
	return `"` + strings.ReplaceAll(roffText(s), `"`, `\[dq]`) + `"`
}

// roffLines escapes lines of text; one that begins with a dot is not a macro.
func roffLines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		if strings.HasPrefix(line, ".") {
			b.WriteString(`\&`)
		}
		b.WriteString(roffText(line) + "\n")
	}
	return b.String()
}

func bold(s string) string { return `\fB` + roffText(s) + `\fR` }

func italic(s string) string { return `\fI` + roffText(s) + `\fR` }
