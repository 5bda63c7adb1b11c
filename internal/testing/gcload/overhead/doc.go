// Command overhead is "make bench-overhead". It measures how much throughput a real program that
// allocates as fast as it can loses while gclog daemon watches it, by the program's own count.
//
//	overhead GCLOG [ROUNDS [SECONDS]]
//
// A round measures the same process for SECONDS each without gclog and with it at each level, and
// then again in the opposite order, so that drift over time cancels out. The runtime is the
// repository's; with GCLOG_TEST=full it is those of the shared folder.
package main
