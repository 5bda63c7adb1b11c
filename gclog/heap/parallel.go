package heap

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f for parts of the numbers below n, on all CPUs. A part has at most size numbers.
func parallel(n, size int, f func(from, to int)) {
	var next atomic.Int64
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+size-1)/size) {
		work.Go(func() {
			for {
				to := int(next.Add(int64(size)))
				if to-size >= n {
					return
				}
				f(to-size, min(to, n))
			}
		})
	}
	work.Wait()
}
