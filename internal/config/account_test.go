package config

import (
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/rotate"
)

// TestAccount: the account that an output is written as, by name or number.
func TestAccount(t *testing.T) {
	for _, c := range []struct {
		su   Su
		want rotate.Account
		err  string
	}{
		{Su{}, rotate.Account{}, ""},
		{Su{User: "4711", Group: "4712"}, rotate.Account{UID: 4711, GID: 4712}, ""},
		{Su{User: "4711"}, rotate.Account{}, "set su.group"},
		{Su{User: "no-such-user"}, rotate.Account{}, `there is no user "no-such-user"`},
		{Su{User: "4711", Group: "no-such-group"}, rotate.Account{}, `there is no group "no-such-group"`},
		{Su{User: "0"}, rotate.Account{}, "is root"},
		{Su{User: "root"}, rotate.Account{}, "is root"},
	} {
		got, err := c.su.account()
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%+v: %+v, %v; want %+v, %q", c.su, got, err, c.want, c.err)
		}
	}
}
