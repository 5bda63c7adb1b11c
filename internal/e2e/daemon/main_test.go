//go:build linux

package daemon

import (
	"testing"

	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/program"
)

func TestMain(m *testing.M) {
	fakenode.Main()
	program.Main(m)
}
