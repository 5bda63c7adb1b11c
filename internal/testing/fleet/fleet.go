// Package fleet makes up the records of a fleet of processes, for tests and benchmarks: services of
// different sizes, on many hosts, that collect as real programs did in recordings, with everything
// that somebody who looks after them asks about. A few services pause for long, leak, induce
// collections, run server GC in small containers, come near their limits and are killed, or lose
// events; some run on two versions of the runtime. The same seed gives the same fleet.
package fleet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// Start is when each fleet begins. It is not on the hour: processes do not start when the clock
// strikes.
var Start = time.Date(2026, 3, 17, 9, 17, 23, 0, time.UTC)

// Options are the size of a fleet.
type Options struct {
	Seed      uint64
	Processes int           // that run at the same time
	Services  int           // 0: one for each 12 processes
	Duration  time.Duration // how long the fleet is observed
	Interval  time.Duration // mean time between two collections of a process
}

// A Fleet is the processes that run for Duration. Those that are killed are replaced.
type Fleet struct {
	o        Options
	shapes   []Shape
	services []service
	random   *rand.Rand
}

// A Shape is the collections of a real program, in order.
type Shape []*gclog.GCDetails

// A service is what its processes have in common.
type service struct {
	name, namespace, version string
	server, concurrent       bool
	runtimes                 []string // of its processes, in turns
	processors               int
	limit                    uint64  // of the memory of each container, in bytes
	heap                     uint64  // of each process at its start, in bytes
	growth                   float64 // per hour, relative to heap
	pause                    float64 // factor for pauses
	interval                 float64 // factor for the time between collections
	induced                  float64 // share of collections that are induced
	lossy                    float64 // share of collections during which events are lost
	crashes                  float64 // share of processes that are killed
}

// New returns a fleet whose collections look like those of shapes.
func New(shapes []Shape, o Options) *Fleet {
	if o.Services == 0 {
		o.Services = max(1, o.Processes/12)
	}
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], o.Seed)
	f := &Fleet{o: o, shapes: shapes, random: rand.New(rand.NewChaCha8(seed))}
	for i := range o.Services {
		f.services = append(f.services, f.service(i))
	}
	return f
}

// withoutID is a runtime that gives its processes no id.
const withoutID = "3.1.32"

var (
	areas    = []string{"shop", "pay", "search", "mail", "stock", "users", "media"}
	roles    = []string{"api", "web", "worker", "cache", "import", "gateway", "batch", "events", "index"}
	runtimes = []string{"8.0.11", "9.0.5", "10.0.0"}
)

// service makes up a service. The unusual ones are spread evenly.
func (f *Fleet) service(i int) service {
	area := areas[i%len(areas)]
	s := service{
		name: fmt.Sprintf("%s-%s-%d", area, roles[i/len(areas)%len(roles)], i), namespace: area,
		version: fmt.Sprintf("%d.%d", 1+i%4, f.random.IntN(20)), server: f.random.IntN(2) == 0, concurrent: f.random.IntN(4) > 0,
		runtimes: []string{runtimes[f.random.IntN(len(runtimes))]}, processors: 4 << f.random.IntN(3),
		heap: 64 << 20 << f.random.IntN(4), pause: 0.5 + f.random.Float64(), interval: 0.5 + f.random.Float64(),
		growth: 0.02 * f.random.Float64(), induced: 0.002, lossy: 0.0005,
	}
	s.limit = 4 * s.heap
	switch i % 10 {
	case 1: // long pauses
		s.pause *= 8
	case 2: // a leak
		s.growth = 0.3 + 0.5*f.random.Float64()
	case 3: // server GC in a small container
		s.server, s.processors, s.heap, s.limit = true, 1+f.random.IntN(2), 96<<20, 512<<20
	case 4: // a cache that calls GC.Collect
		s.induced = 0.1 + 0.3*f.random.Float64()
	case 5: // near its limit, killed
		s.limit, s.growth, s.crashes = s.heap+s.heap/3, 0.2, 0.3
	case 6: // events are lost
		s.lossy = 0.03
	case 7: // an upgrade
		s.runtimes = []string{"8.0.11", "10.0.0"}
	}
	if i%20 < 10 && (s.crashes > 0 || s.growth > 0.3 || i%10 == 1) {
		s.runtimes = []string{withoutID}
	}
	return s
}

// Play passes on the records of each process, one process after the other.
func (f *Fleet) Play(observe func(p *gclog.Process) gclog.Observer) {
	for i := range f.o.Processes {
		s := &f.services[i%len(f.services)]
		x := instance{f: f, s: s, number: i, pod: fmt.Sprintf("%s-%s-%s", s.name, f.text(9), f.text(5)), host: fmt.Sprintf("node-%03d", (i*7+i/13)%max(1, f.o.Processes/20))}
		for at := time.Duration(f.random.Int64N(int64(f.o.Duration / 4))); at < f.o.Duration; {
			at = x.play(at, observe)
		}
	}
}

// text returns random letters and digits, as in the names of pods.
func (f *Fleet) text(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "bcdfghjklmnpqrstvwxz2456789"[f.random.IntN(27)]
	}
	return string(b)
}

// An instance is a place for a process: a container, which is restarted when the process ends.
type instance struct {
	f         *Fleet
	s         *service
	number    int
	pod, host string
	restarts  int
}

// process makes up a process that starts at a time.
func (x *instance) process(at time.Duration) *gclog.Process {
	f, s := x.f, x.s
	id := make([]byte, 16)
	for i := range id {
		id[i] = byte(f.random.Uint32())
	}
	started := Start.Add(at)
	p := &gclog.Process{
		ID: int64(2000 + f.random.IntN(30000)), Name: s.name, EntryAssembly: s.name, Service: s.name, ServiceVersion: s.version,
		RuntimeVersion: s.runtimes[x.number/len(f.services)%len(s.runtimes)], Flavor: gclog.FlavorCoreCLR, OS: "Linux", Architecture: "x64",
		Cookie: fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]), Started: started, StartKey: uint64(at/(10*time.Millisecond)) + 4711,
		Executable: "dotnet", User: "app", Host: x.host, ContainerID: fmt.Sprintf("%x%x%x%x", id, id, id, id)[:64], ContainerName: "app",
		Namespace: s.namespace, Pod: x.pod, PodUID: fmt.Sprintf("%x", id[8:]), Labels: map[string]string{"env": "prod"},
		Server: gclog.KnownBool(s.server), Concurrent: gclog.KnownBool(s.concurrent), HeapCount: x.heaps(), Processors: s.processors,
		Limits: clr.GCSettings{HardLimit: s.limit / 4 * 3, LOHThreshold: 85000, Gen0MinBudget: 256 << 10, Gen0MaxBudget: 6 << 20, HighMemoryPercent: 90}, HasLimits: true,
		Sync: started.Add(2 * time.Second), UptimeAtSync: 2 * time.Second,
	}
	if p.RuntimeVersion == withoutID {
		p.Cookie = ""
	}
	return p
}

func (x *instance) heaps() int {
	if x.s.server {
		return x.s.processors
	}
	return 1
}

// play passes on the records of a process from its start to its end, or to the end of the
// observation, and returns when the next process starts.
func (x *instance) play(at time.Duration, observe func(*gclog.Process) gclog.Observer) time.Duration {
	f, s, random := x.f, x.s, x.f.random
	p := x.process(at)
	o := observe(p)
	left := int64(f.o.Duration - at) // nanoseconds
	killed := random.Float64() < s.crashes && x.restarts < 3
	if killed {
		left = left/4 + random.Int64N(left/2+1)
	}
	const ticks = 1e12
	o(&gclog.Start{At: 0, Ticks: ticks, Providers: "Microsoft-Windows-DotNETRuntime:0x1:4"})
	shape := f.shapes[random.IntN(len(f.shapes))]
	scale := float64(s.heap) / float64(max(1, shape.heap()))
	var d gclog.GCDetails
	next := random.IntN(len(shape))
	number := uint32(0)
	for now := int64(0); ; {
		now += int64(random.ExpFloat64() * s.interval * float64(f.o.Interval))
		d.CopyFrom(shape[next%len(shape)])
		next++
		number++
		grown := 1 + s.growth*float64(now)/float64(time.Hour)
		now = x.adapt(&d, now, number, scale*grown, uint64(float64(s.heap)*grown))
		if now > left {
			break
		}
		if random.Float64() < s.lossy {
			lost := uint64(1 + random.IntN(50))
			d.Complete, d.Flaws, d.LostEvents = false, d.Flaws|gclog.FlawLostEvents, lost
			o(&gclog.Gap{Reason: gclog.GapLostEvents, Time: now, Ticks: ticks + now, Since: d.Start, LostEvents: lost, From: number, To: number})
		}
		for i := range d.Pauses {
			o(&gclog.Pause{PausePart: d.Pauses[i], Ticks: ticks + d.Pauses[i].Start, GC: &d})
		}
		o(&d)
		if random.IntN(200) == 0 {
			o(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseNoGCRegion, Start: now + 1e6, Duration: 1e5 + random.Int64N(1e6)}, Ticks: ticks + now + 1e6})
		}
	}
	end := gclog.End{At: left, Ticks: ticks + left, Reason: gclog.EndDetached}
	if killed {
		end.Reason, end.Signal = gclog.EndOOMKilled, 9
		x.restarts++
	}
	o(&end)
	return at + time.Duration(left) + 5*time.Second
}

// heap returns the largest heap of a shape, in bytes.
func (s Shape) heap() (most uint64) {
	for _, d := range s {
		most = max(most, d.SizeAfter())
	}
	return most
}

// adapt makes a copy of a collection that of the process: it starts at a time, and sizes are scaled.
// It returns when it ends.
func (x *instance) adapt(d *gclog.GCDetails, at int64, number uint32, scale float64, heap uint64) (end int64) {
	s, random := x.s, x.f.random
	by := at - d.PauseStart()
	shift := func(t *int64) {
		if *t != 0 {
			*t += by
		}
	}
	slower := s.pause * math.Exp(random.NormFloat64()/2)
	end = at
	for i := range d.Pauses {
		part := &d.Pauses[i]
		part.Start += by
		part.Duration = int64(float64(part.Duration) * slower)
		part.Suspend, part.Resume = min(part.Suspend, part.Duration), min(part.Resume, part.Duration)
		end = max(end, part.Start+part.Duration)
	}
	shift(&d.Start)
	shift(&d.End)
	d.End = max(d.End, end)
	shift(&d.Suspended)
	shift(&d.Triggered)
	if b := d.Background; b != nil {
		for _, t := range []*int64{&b.MarkStart, &b.MarkEnd, &b.SweepStart, &b.SweepEnd} {
			shift(t)
		}
		for i := range b.Phase {
			shift(&b.Phase[i])
		}
		for i := range b.Waits {
			shift(&b.Waits[i].Start)
		}
	}
	for i := range d.Heaps {
		shift(&d.Heaps[i].MarkedUntil)
	}
	d.StartTicks, d.Number = 1e12+d.Start, number
	d.Known |= gclog.GroupNumber
	if random.Float64() < s.induced {
		d.Reason = clr.ReasonInduced
		d.Known |= gclog.GroupReason
	}
	d.Allocated, d.Fragmentation = 0, 0
	for g := range d.Generations {
		n := &d.Generations[g]
		for _, v := range []*uint64{
			&n.Before, &n.After, &n.ObjectsBefore, &n.ObjectsAfter, &n.FreeBefore, &n.Fragmentation, &n.In, &n.Survived, &n.SurvivedPins, &n.Budget, &n.Promoted, &n.Allocated,
		} {
			*v = uint64(float64(*v) * scale)
		}
		d.Allocated, d.Fragmentation = d.Allocated+n.Allocated, d.Fragmentation+n.Fragmentation
	}
	for _, v := range []*uint64{&d.Peak, &d.PromotedBytes, &d.CommittedBefore, &d.CommittedAfter} {
		*v = uint64(float64(*v) * scale)
	}
	used := min(x.s.limit-x.s.limit/50, heap+heap/5+random.Uint64N(heap/20))
	d.Memory = gclog.Memory{Resident: used, Cgroup: min(x.s.limit, used+16<<20), CgroupLimit: x.s.limit, At: end}
	return max(end, d.End)
}
