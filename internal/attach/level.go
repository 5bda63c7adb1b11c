package attach

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// Levels are the names of how much a runtime reports.
var Levels = []string{"light", "normal", "full"}

// Sizes of the buffer in the target, in MB. It is only used while nobody reads.
const (
	BufferMB     = 16 // except for level full
	bufferFullMB = 64
)

// SessionConfig returns what a session listens to: one of the Levels, plus the given providers in
// dotnet-trace's syntax, each element with one or more of them. With records, the two most frequent
// kinds of events of level full are left out.
func SessionConfig(level string, providers []string, records bool) (session.Config, error) {
	cfg := session.Config{BufferMB: BufferMB}
	runtime := session.Provider{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational}
	private := session.Provider{Name: clr.PrivateProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational}
	switch level {
	case "light":
		cfg.Providers = []session.Provider{runtime}
	case "normal":
		cfg.Providers = []session.Provider{runtime, private}
	case "full":
		runtime.Level = clr.LevelVerbose
		cfg.BufferMB = bufferFullMB
		if records {
			runtime.Exclude = []uint32{clr.IDGCJoin, clr.IDFinalizeObject}
		}
		cfg.Providers = []session.Provider{runtime, private}
	default:
		return cfg, fmt.Errorf("level %s: it must be light, normal or full", level)
	}
	for _, s := range providers {
		for one := range strings.SplitSeq(s, ",") {
			p, err := parseProvider(one)
			if err != nil {
				return cfg, fmt.Errorf("providers %q: %w", one, err)
			}
			cfg.Providers = addProvider(cfg.Providers, p)
		}
	}
	return cfg, nil
}

// addProvider adds p to the list; a provider that is already in the list is merged with it.
func addProvider(list []session.Provider, p session.Provider) []session.Provider {
	for i := range list {
		if list[i].Name == p.Name {
			list[i].Keywords |= p.Keywords
			list[i].Level = max(list[i].Level, p.Level)
			list[i].Exclude = nil
			if p.Filter != "" {
				list[i].Filter = p.Filter
			}
			return list
		}
	}
	return append(list, p)
}

var levelNames = []string{"logalways", "critical", "error", "warning", "informational", "verbose"}

// parseProvider parses NAME[:KEYWORDS[:LEVEL[:FILTER]]]: keywords in hexadecimal, all of them if
// left out; the level as a number or name, verbose if left out.
func parseProvider(s string) (session.Provider, error) {
	parts := strings.SplitN(s, ":", 4)
	p := session.Provider{Name: strings.TrimSpace(parts[0]), Keywords: 1<<64 - 1, Level: clr.LevelVerbose}
	if p.Name == "" {
		return p, errors.New("a provider needs a name (NAME:KEYWORDS:LEVEL)")
	}
	if len(parts) > 1 && parts[1] != "" {
		n, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(parts[1]), "0x"), 16, 64)
		if err != nil {
			return p, fmt.Errorf("the keywords %q are not a hexadecimal number", parts[1])
		}
		p.Keywords = n
	}
	if len(parts) > 2 && parts[2] != "" {
		level := slices.Index(levelNames, strings.ToLower(parts[2]))
		if n, err := strconv.Atoi(parts[2]); err == nil {
			level = n
		}
		if level < 0 || level > clr.LevelVerbose {
			return p, fmt.Errorf("the level %q is neither 0 to 5 nor one of %s",
				parts[2], strings.Join(levelNames, ", "))
		}
		p.Level = uint32(level)
	}
	if len(parts) > 3 {
		p.Filter = parts[3]
	}
	return p, nil
}
