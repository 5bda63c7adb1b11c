//go:build linux

package deploy

import (
	"testing"

	"github.com/gclog/gclog/internal/testing/fakefuse"
	"github.com/gclog/gclog/internal/testing/program"
)

func TestMain(m *testing.M) {
	fakefuse.Main()
	program.Main(m)
}
