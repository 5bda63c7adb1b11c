package flags

import (
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/condition"
	"github.com/gclog/gclog/internal/rules"
)

// Rule parses the argument of --on: a condition on a collection, or an event and a condition on
// it, or just an event.
func Rule(text string, cooldown time.Duration) (*rules.Rule, error) {
	kind, when, named := EventOf(text)
	if name, _, ok := strings.Cut(text, ":"); ok && !named && isWord(strings.TrimSpace(name)) {
		// In a condition there is a ':' only in quotes.
		_, err := rules.ParseKind(strings.TrimSpace(name))
		return nil, exit.Usagef("--%s %q: %w", On, text, err)
	}
	r, err := rules.New(text, kind, when, 0, 0, cooldown)
	if wrong, ok := errors.AsType[*condition.Error](err); ok {
		return nil, exit.Usagef("--%s %q, column %d: %s",
			On, text, wrong.Column+strings.LastIndex(text, when), wrong.Msg)
	}
	if err != nil {
		return nil, exit.Usagef("--%s %q: %w", On, text, err)
	}
	return r, nil
}

// EventOf splits the argument of --on into the event that it names, if any, and the condition.
func EventOf(text string) (kind rules.Kind, when string, named bool) {
	name, rest, _ := strings.Cut(text, ":")
	if kind, err := rules.ParseKind(strings.TrimSpace(name)); err == nil {
		return kind, strings.TrimSpace(rest), true
	}
	return rules.OnGC, strings.TrimSpace(text), false
}

// isWord reports whether text consists of letters.
func isWord(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}
