//go:build linux

package hostile

import (
	"testing"

	"github.com/gclog/gclog/internal/testing/program"
)

func TestMain(m *testing.M) { program.Main(m) }
