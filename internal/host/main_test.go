package host_test

import (
	"flag"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/session"
	"go.uber.org/goleak"
)

// roles are what the test binary runs as where a test needs a separate process.
var roles = map[string]func() error{}

func TestMain(m *testing.M) {
	child.Main(roles)
	startedByTest()
	// Those that run at the same time wait, so that there may be more of them than processors.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for something that must happen. It is long, because a loaded
// machine is not a failure.
const patience = 30 * time.Second

// impatience is a timeout for something that never happens.
const impatience = 50 * time.Millisecond

const nobody = 65534

func config() session.Config {
	return session.Config{BufferMB: 16, Providers: []session.Provider{{Name: "P", Keywords: 1, Level: 4}}}
}
