//go:build linux

package program

import "github.com/gclog/gclog/internal/testing/gcload"

// Load returns the settings and arguments of the load program's usual load: garbage with survivors
// of all kinds, in a heap small enough for collections of all generations within seconds.
func Load(r *gcload.Runtime, flavour string) (knobs, args []string) {
	args = []string{"churn", "--rate", "400", "--live", "20", "--loh", "10", "--pins", "50", "--finalizers", "5", "--threads", "2", "--seed", "1"}
	if r.Major >= 5 {
		args = append(args, "--poh", "5")
	}
	if flavour != "datas" {
		knobs = []string{"GCgen0size=400000"}
	}
	return knobs, args
}
