package lists

import (
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/urfave/cli/v2"
)

// TableRows is how many rows a table has unless the user says otherwise.
const TableRows = 20

// TopFlag is the flag that Top reads.
func TopFlag(byDefault string) cli.Flag {
	return &cli.IntFlag{Name: "top", Usage: "list the first `N` rows", DefaultText: byDefault}
}

// Top returns how many rows of a list are wanted in a format; 0: all.
func Top(c *cli.Context, format string) (int, error) {
	switch top := c.Int("top"); {
	case c.IsSet("top") && top <= 0:
		return 0, exit.Usagef("--top %d: it must be 1 or more", top)
	case c.IsSet("top"):
		return top, nil
	case format == "text":
		return TableRows, nil
	}
	return 0, nil
}

// Cut returns the first rows of a list; most is 0 for all.
func Cut[T any](rows []T, most int) []T {
	if most > 0 && len(rows) > most {
		return rows[:most]
	}
	return rows
}
