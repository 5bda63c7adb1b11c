// Command gclog writes garbage collection logs of running .NET processes.
package main

import (
	"os"

	"github.com/gclog/gclog/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
