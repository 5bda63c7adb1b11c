// Command bench measures what gclog daemon costs on nodes with many processes, all of them fake:
// CPU time, memory, wake-ups, and how long it takes until a collection is in its file. Afterwards
// every file is compared with what the processes did. The last row is gclog top on a screen of 160x50.
//
//	bench GCLOG [SECONDS]
package main
