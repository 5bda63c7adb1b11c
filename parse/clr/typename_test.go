package clr_test

import (
	"testing"

	"github.com/gclog/gclog/parse/clr"
)

func TestTypeNames(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "[]": 2, "[][,]x": 5, "[*]": 3, "*&": 2, "[System.Int32][]": 0, "x[]": 0, "[,": 0, "[": 0, "[]*+Inner": 3,
	} {
		if got := clr.TypeSuffixLength(s); got != want {
			t.Errorf("the suffix of %q has length %d, want %d", s, got, want)
		}
	}
	for s, want := range map[string]int{"<Main>b__0": 6, "<<Main>g__F|0>d": 14, "<>c": 2, "<Main": -1, "": -1, "Main": -1} {
		if got := clr.AngledLength(s); got != want {
			t.Errorf("the brackets of %q have length %d, want %d", s, got, want)
		}
	}
	if k, none := clr.Keyword("System.UIntPtr"), clr.Keyword("System.Guid"); k != "nuint" || none != "" {
		t.Errorf("the keywords are %q and %q", k, none)
	}
}
