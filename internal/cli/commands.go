package cli

import "github.com/gclog/gclog/internal/cli/program"

// commands are those about gclog itself, in one run of it.
type commands struct{ *program.Run }
