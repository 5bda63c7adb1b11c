package heap

import (
	"fmt"
	"strings"
)

// Modules are the paths of the modules of a program by their ids, as far as they are known.
type Modules map[uint64]string

// Base returns the file name of a module.
func (m Modules) Base(id uint64) string {
	if path := m[id]; path != "" {
		return baseName(path)
	}
	return fmt.Sprintf("unknown module 0x%x", id)
}

// baseName returns the last element of a path of any operating system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
