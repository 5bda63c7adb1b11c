package stacks

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkAt looks three million addresses up: in code as a runtime has it, where each is in one body, and in hostile
// code, where each is in all of them.
func BenchmarkAt(b *testing.B) {
	const bodies, lookups, step = 1 << 18, 3 << 20, 1 << 8
	for name, size := range map[string]uint64{"runtime": step, "hostile": bodies * step} {
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				m := newMethods()
				for i := range uint64(bodies) {
					from := r.Int64N(1e9)
					m.bodies = append(m.bodies, body{i * step, i*step + size, from, from + r.Int64N(1e9), int32(i), false})
				}
				m.sort()
				for range lookups {
					m.at(r.Uint64N(bodies*step), r.Int64N(2e9))
				}
			}
		})
	}
}

// TestManyLooks: code that overlaps takes a limited time, and code that does not is still found after that.
func TestManyLooks(t *testing.T) {
	m := newMethods()
	for i := range uint64(1000) {
		m.bodies = append(m.bodies, body{i * 16, i*16 + 16, 0, 100, int32(i), false})
	}
	m.sort()
	m.looks = maxLooks + 1
	for i := range uint64(16_000) {
		if of, _ := m.at(i, 50); of != int32(i/16) {
			t.Fatalf("at %d is method %d", i, of)
		}
	}
}
