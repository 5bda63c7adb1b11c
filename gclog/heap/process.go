package heap

import "strings"

// A Process is what a snapshot says about its process.
type Process struct {
	ID   int    // 0: unknown
	Name string // of its program; "": unknown
}

// programOf returns the name of the program in a command line, whose arguments are not quoted.
func programOf(commandLine string) string {
	words := strings.Fields(commandLine)
	if len(words) == 0 {
		return ""
	}
	program := strings.TrimSuffix(strings.TrimSuffix(baseName(words[0]), ".exe"), ".dll")
	if program == "dotnet" {
		for _, argument := range words[1:] {
			if name, ok := strings.CutSuffix(baseName(argument), ".dll"); ok {
				return name
			}
		}
	}
	return program
}
