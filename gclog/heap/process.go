package heap

import "strings"

// A Process is what a snapshot says about its process.
type Process struct {
	ID   int    // 0: unknown
	Name string // of its program; "": unknown
}

// programOf returns the name of the program in a command line, whose arguments are not quoted.
func programOf(commandLine string) string {
	program := ""
	for i, argument := range strings.Fields(commandLine) {
		name := baseName(argument)
		stem, library := strings.CutSuffix(name, ".dll")
		if i == 0 {
			program = strings.TrimSuffix(stem, ".exe")
		}
		switch {
		case i == 0 && program != "dotnet":
			return program
		case library: // that dotnet runs
			return stem
		}
	}
	return program
}
