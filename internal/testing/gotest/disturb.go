package main

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/internal/testing/gcload"
)

// disturb keeps two threads busy and has the disk of a folder sync, until the function that it
// returns is called. Meanwhile there is also somebody else's .NET process, where one can run.
func disturb(dir string) (stop func(), err error) {
	f, err := os.CreateTemp(dir, "disturbance")
	if err != nil {
		return nil, err
	}
	foreign := func() {}
	if r, err := gcload.FromRepository(); err == nil {
		p, err := r.Start(os.TempDir(), "wks", nil, "churn", "--rate", "20", "--quiet", "--exit-on-eof")
		if err != nil {
			return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
		foreign = func() { _ = p.Exit(0) } // it removes its socket
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
		foreign()
		over.Store(true)
		group.Wait()
		_ = f.Close()
		_ = os.Remove(f.Name())
	}, nil
}
