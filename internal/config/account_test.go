package config

import (
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
)

// TestAccount: the account that an output is written as, by name or number.
func TestAccount(t *testing.T) {
	for _, c := range []struct {
		su   Su
		want formats.Account
		err  string
	}{
		{Su{}, formats.Account{}, ""},
		{Su{User: "4711", Group: "4712"}, formats.Account{UID: 4711, GID: 4712}, ""},
		{Su{User: "4711"}, formats.Account{}, "set su.group"},
		{Su{User: "no-such-user"}, formats.Account{}, `there is no user "no-such-user"`},
		{Su{User: "4711", Group: "no-such-group"}, formats.Account{}, `there is no group "no-such-group"`},
		{Su{User: "0"}, formats.Account{}, "is root"},
		{Su{User: "root"}, formats.Account{}, "is root"},
	} {
		got, err := c.su.account()
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%+v: %+v, %v; want %+v, %q", c.su, got, err, c.want, c.err)
		}
	}
}
