//go:build !linux

package heap

import (
	"os"
	"runtime/metrics"
	"time"
)

// limitOwn is for Linux only.
func limitOwn(_, _ uint64, _ time.Duration) (overtime <-chan os.Signal, release func()) {
	return nil, func() {}
}

// ownMemory returns the bytes of memory that Go has mapped, and those that it has not given back.
func ownMemory() (mapped, resident uint64) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	mapped = s[0].Value.Uint64()
	return mapped, mapped - min(mapped, s[1].Value.Uint64())
}
