package analysis_test

import (
	"compress/gzip"
	"fmt"
	"os"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// Problems in a recording, with a custom threshold.
func ExampleFindings() {
	file, err := os.Open("../../testdata/traces/net10-wks-provisional.nettrace.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	stream, err := gzip.NewReader(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	var thresholds analysis.Thresholds
	if err := thresholds.Set("long-pause.over", "50ms"); err != nil {
		fmt.Println(err)
		return
	}
	var findings *analysis.Findings
	if err := gclog.Read(stream, func(p *gclog.Process) gclog.Observer {
		findings = analysis.NewFindings(p, thresholds, analysis.Always())
		return findings.Observe
	}); err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range findings.List() {
		fmt.Printf("%s %s: %s %v\n", f.Severity, f.Rule.ID, f.Text, f.GCs)
	}
	// Output:
	// warning high-survival: Of 257 MB of objects in gen0, 49.1 MB survived (19.1 %): gen0 and gen1 collections marked and promoted 82.1 MB, for which they paused the program for 327 ms. [18 30 38 22 26 31 29 28 46 37]
	// error high-pause-share: The program was paused for 13.8 % of the time in the 3.67 s from 2026-11-21 00:38:58: 506 ms of pauses. [34 7 13 18 30 38 22 26 4 31]
	// warning blocking-gen2: 4 of 4 gen2 collections (100 %) were blocking, the longest pause 70.3 ms: 2 because full collections freed little (provisional-mode), 1 started as a background collection and 1 with a heap too small for a background collection. [34 7 13 4]
	// warning long-pause: 2 of 46 pauses were longer than 50 ms, the longest 70.3 ms: blocking gen2 collection 34 (AllocSmall). [34 7]
	// warning provisional-mode: 2 collections followed the rules for full collections that free little, 2 of them full collections right after a gen1; they paused the program for 96.5 ms in total. [7 13]
}
