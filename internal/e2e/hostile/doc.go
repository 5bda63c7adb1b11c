// Package hostile runs the attacks of testdata/hostile on gclog. It has tests only.
package hostile
