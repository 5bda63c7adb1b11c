// Package rules holds the tests of this repository to the rules of CONTRIBUTING.md, as far as their
// text shows whether they keep them.
package rules
