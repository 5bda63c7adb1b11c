// Command bench measures what gclog daemon costs on nodes with many processes, all of
// them fake: processor time, memory, wake-ups, and how long a collection takes into
// its file. Afterwards every file is held against what the processes did.
//
//	bench GCLOG [SECONDS]
package main
