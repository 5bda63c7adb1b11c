package main

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// disturb keeps two threads busy and has the disk of a folder sync, until the function that it
// returns is called.
func disturb(dir string) (stop func(), err error) {
	f, err := os.CreateTemp(dir, "disturbance")
	if err != nil {
		return nil, err
	}
	runtime.GOMAXPROCS(max(4, runtime.NumCPU()+2))
	var over atomic.Bool
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for !over.Load() {
			}
		})
	}
	group.Go(func() {
		block := make([]byte, 1<<20)
		for !over.Load() {
			_, err := f.WriteAt(block, 0)
			if errors.Join(err, f.Sync()) != nil {
				return // a full disk: the tests will say so
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	return func() {
		over.Store(true)
		group.Wait()
		_ = f.Close()
		_ = os.Remove(f.Name())
	}, nil
}
