package heap

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f for parts of the numbers below n, on all CPUs.
func parallel(n int, f func(from, to int)) {
	var next atomic.Int64
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+chunkLen-1)/chunkLen) {
		work.Go(func() {
			for {
				to := int(next.Add(chunkLen))
				if to-chunkLen >= n {
					return
				}
				f(to-chunkLen, min(to, n))
			}
		})
	}
	work.Wait()
}
