package host

import (
	"bytes"
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// Rooms returns what limits the memory of the process: its own limits, those of its control group
// and of the groups above it, and the memory of the host. Limits that cannot be read are left out.
func (p *Process) Rooms() []Room {
	list, _ := look(context.Background(), p, func() ([]Room, error) {
		proc, err := p.openProc()
		if err != nil {
			return nil, err
		}
		defer closeFile(&proc)
		group := openGroup(proc, p.guard(proc), memoryController)
		defer group.close()
		list := append(processRooms(proc), group.rooms()...)
		return append(list, hostRoom()...), nil
	}, keep)
	return list
}

// processRooms returns the limits of a process: ulimit -v and -d.
func processRooms(proc int) (list []Room) {
	limits, _ := readAllIn(proc, "limits", 1<<14)
	memory, _ := readIn(proc, "statm", make([]byte, 128))
	used := bytes.Fields(memory) // pages: size resident shared text lib data
	for name, field := range map[string]int{"Max address space": 0, "Max data size": 5} {
		_, rest, _ := bytes.Cut(limits, []byte("\n"+name))
		word, _ := nextWord(rest)
		if limit := decimal(word); limit > 0 && field < len(used) {
			list = append(list,
				Room{Of: "the process", Limit: limit, Used: decimal(used[field]) * uint64(unix.Getpagesize())})
		}
	}
	return list
}

// rooms returns the limits of the group and of those above it.
func (g *group) rooms() (list []Room) {
	names := groupFiles[g.version]
	// number returns the number after a text in a file.
	number := func(dir int, name, text string) uint64 {
		fd := openGroupFile(dir, name)
		defer closeFile(&fd)
		_, rest, _ := bytes.Cut(readAgain(fd, make([]byte, 16<<10)), []byte(text))
		word, _ := nextWord(rest)
		return decimal(word)
	}
	for _, dir := range g.accounting() {
		if limit := number(dir, names.limit, ""); limit > 0 && limit < noLimit {
			used := number(dir, names.usage, "")
			used -= min(number(dir, "memory.stat", "\n"+names.reclaimable+" "), used)
			list = append(list, Room{Of: "its control group", Limit: limit, Used: used})
		}
	}
	return list
}

// hostRoom returns the memory of the host.
func hostRoom() []Room {
	b, _ := readAllIn(unix.AT_FDCWD, procRoot+"/meminfo", 1<<14)
	kilobytes := func(name string) uint64 {
		_, rest, _ := bytes.Cut(b, []byte(name+":"))
		word, _ := nextWord(rest)
		return decimal(word) << 10
	}
	total, available := kilobytes("MemTotal"), kilobytes("MemAvailable")
	if total == 0 {
		return nil
	}
	return []Room{{Of: "the host", Limit: total, Used: total - min(available, total)}}
}

// PrivateMemory returns the memory of the process that is no part of a file, in bytes: what is
// resident, was swapped out, or is in huge pages. It is an upper limit of what its objects occupy. 0:
// unknown.
func (p *Process) PrivateMemory() (private uint64) {
	b, _ := readIn(unix.AT_FDCWD, p.procPath("statm"), make([]byte, 128))
	f := bytes.Fields(b)
	if len(f) < 3 {
		return 0
	}
	resident, shared := decimal(f[1]), decimal(f[2])
	private = (resident - min(shared, resident)) * uint64(unix.Getpagesize())
	status, _ := readAllIn(unix.AT_FDCWD, p.procPath("status"), maxStatus)
	for _, name := range []string{"VmSwap", "HugetlbPages"} {
		for _, kb := range statusNumbers(status, name) {
			private += uint64(kb) << 10
		}
	}
	return private
}

// BackgroundGCTime returns the CPU time of the threads that do background collections, in
// nanoseconds, and whether one of them is running or waits for a CPU. It grows while a collection is
// running. known is false if the process has no thread with the name that .NET 8 and later give them:
// it has not done a background collection recently, or it is another runtime.
func (p *Process) BackgroundGCTime() (ns uint64, active, known bool) {
	p.backgroundThreads(func(t *thread) {
		stat, _ := t.stat()
		active = active || stat.state == 'R'
		ns, known = ns+t.used(), true
	})
	return ns, active, known
}

// BackgroundGCs returns how many background collections the threads of BackgroundGCTime have done at
// most, and how long the oldest of them has existed. A collection makes a thread wait twice or more
// often.
func (p *Process) BackgroundGCs() (most int, age time.Duration) {
	p.backgroundThreads(func(t *thread) {
		for _, waits := range t.status("voluntary_ctxt_switches") {
			most = max(most, waits/2)
		}
		if stat, ok := t.stat(); ok {
			age = max(age, time.Since(startTime(stat.startKey)))
		}
	})
	return most, age
}

func (p *Process) backgroundThreads(visit func(t *thread)) {
	_, _ = p.threads(func(t *thread) bool {
		if t.name == ".NET BGC" {
			visit(t)
		}
		return true
	})
}
