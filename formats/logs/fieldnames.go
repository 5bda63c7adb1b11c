package logs

import (
	"slices"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// The names that the fields of json and unified share.

// rootOf returns the kind of roots with this name.
func rootOf(name []byte) (t clr.MarkType, known bool) {
	i := slices.Index(fields.Roots[:], string(name))
	return clr.MarkType(max(0, i)), i >= 0
}

// generation is the inverse of gclog.GenerationName.
func generation(name []byte) (g int, known bool) {
	for g := range gclog.Generations {
		if gclog.GenerationName(g) == string(name) {
			return g, true
		}
	}
	return 0, false
}
