// Command overhead is "make bench-overhead": what a real program that allocates as fast
// as it can loses while gclog daemon watches it, by the program's own count.
//
//	overhead GCLOG [ROUNDS [SECONDS]]
//
// A round measures the same process for SECONDS each without gclog, and with it at each
// level, and then in the opposite order, so that what changes with time cancels out. The
// runtime is that of the repository; with GCLOG_LIVE=all those of the shared folder.
package main
