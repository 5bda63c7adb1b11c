package view

import (
	"github.com/gclog/gclog/formats"
)

// lineMost is how many characters a text from another process may have in a line.
const lineMost = 2000

// OneLine returns text from another process for one line of a terminal.
func OneLine(s string) string { return formats.OneLine(s, lineMost) }
