package fakeruntime

import (
	"encoding/hex"
	"strings"
	"testing"
)

// TestFatal: the requests that runtimes do not survive, byte for byte.
func TestFatal(t *testing.T) {
	const (
		name    = "20000000 4d006900630072006f0073006f00660074002d00570069006e0064006f00770073002d0044006f0074004e0045005400520075006e00740069006d0065000000 "
		walk    = "00001000 00000000 05000000 "
		collect = "00008000 00000000 04000000 "
		gc      = "01000000 00000000 04000000 "
		five    = "00000000 10000000 01000000 0000000000000000 00 01000000 " // of CollectTracing5, up to the first provider
		none    = "00000000"
		filter  = "00 00000000"
	)
	core, aot := Config{Version: "10.0.14"}, func(version string, server bool) Config {
		return Config{Version: version, NativeAOT: true, Server: server}
	}
	for _, tc := range []struct {
		what    string
		of      Config
		command uint16
		payload string
		fatal   bool
	}{
		{"ProcessInfo3", core, 0x0408, "", false},
		{"StopTracing", core, 0x0201, "0100000000000000", false},
		{"StopTracing, empty", core, 0x0201, "", true},
		{"CollectTracing5, empty", core, 0x0206, "", true},
		{"CollectTracing2, empty", core, 0x0203, "", true},
		{"WriteDump, empty", core, 0x0101, "", true},
		{"AttachProfiler", core, 0x0301, "00", true},
		{"SetEnvironmentVariable", core, 0x0403, "", true},
		{"EnablePerfMap", core, 0x0405, "00000000", true},
		{"CollectTracing6", core, 0x0207, five + gc + name + none + filter + "01000000", true},
		{"CollectTracing", core, 0x0202, "", true},
		{"a GC session", core, 0x0206, five + gc + name + none + filter, false},
		{"one byte too few", core, 0x0206, (five + gc + name + none + filter)[:len(five+gc+name+none+filter)-2], true},
		{"user_events", core, 0x0206, "01" + (five + gc + name + none + filter)[2:], true},
		{"call stacks of collections", core, 0x0206, strings.Replace(five, "0000000000000000 00", "0000000000000000 01", 1) + gc + name + none + filter, false},
		{"call stacks of a walk", core, 0x0206, strings.Replace(five, "0000000000000000 00", "0000000000000000 01", 1) + walk + name + none + filter, true},
		{"no buffer", core, 0x0206, strings.Replace(five, "10000000", "00000000", 1) + gc + name + none + filter, true},
		{"format 0", core, 0x0206, strings.Replace(five, "01000000 0000000000000000", "00000000 0000000000000000", 1) + gc + name + none + filter, true},
		{"no providers", core, 0x0206, strings.Replace(five, "00 01000000 ", "00 00000000 ", 1), true},
		{"level 6", core, 0x0206, five + strings.Replace(gc, "04000000", "06000000", 1) + name + none + filter, true},
		{"a walk", core, 0x0206, five + walk + name + none + filter, false},
		{"a walk of NativeAOT 8", aot("8.0.33", false), 0x0206, five + walk + name + none + filter, true},
		{"a collection of NativeAOT 9", aot("9.0.22", true), 0x0206, five + collect + name + none + filter, true},
		{"GC events of NativeAOT 9", aot("9.0.22", true), 0x0206, five + gc + name + none + filter, false},
		{"a walk of NativeAOT 10", aot("10.0.12", false), 0x0206, five + walk + name + none + filter, false},
		{"a walk of NativeAOT 10 with server GC", aot("10.0.12", true), 0x0206, five + walk + name + none + filter, true},
		{"a collection of NativeAOT 10 with server GC", aot("10.0.12", true), 0x0206, five + collect + name + none + filter, false},
		{"a walk of NativeAOT 11 with server GC", aot("11.0.0", true), 0x0206, five + walk + name + none + filter, false},
	} {
		payload, err := hex.DecodeString(strings.ReplaceAll(tc.payload, " ", ""))
		if err != nil {
			t.Fatalf("%s: %v", tc.what, err)
		}
		if why := tc.of.fatal(tc.command, payload); (why != "") != tc.fatal {
			t.Errorf("%s: %q, want fatal %v", tc.what, why, tc.fatal)
		}
	}
}
