package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	programs "github.com/gclog/gclog/internal/testing/child" // child is a type here
)

// runAsParent runs gclog in a process of its own, prints the pid of that, and waits. Threads of it end
// meanwhile.
func runAsParent(word string) {
	go func() {
		for {
			ended := make(chan bool)
			go func() {
				runtime.LockOSThread() // forever: the thread ends with the goroutine
				close(ended)
			}()
			<-ended
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := Self(context.Background(), []string{word}, nil, func(line string) { fmt.Println(line) })
	fmt.Println("the child has ended:", err)
}

// TestEndWithParent: what Self runs ends when this process is killed, and not before.
func TestEndWithParent(t *testing.T) {
	for _, word := range []string{"child", "child that sets the signal itself"} {
		parent := exec.Command("/proc/self/exe")
		parent.Args = []string{"gclog", "parent", word}
		_, out := programs.Pipes(t, parent)
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid := strings.TrimSpace(line)
		runs := func() bool {
			stat, _ := os.ReadFile("/proc/" + pid + "/stat")
			return len(stat) > 0 && !bytes.Contains(stat, []byte(") Z "))
		}
		time.Sleep(50 * time.Millisecond) // allowed: that it goes on can only be shown by waiting
		if !runs() {
			t.Fatalf("%s: process %q does not run", word, pid)
		}
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait()
		for runs() {
			time.Sleep(time.Millisecond)
		}
	}
}
