//go:build linux

package fakenode

import (
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sys/unix"
)

// A Chaos starts and ends processes of a Node at random, and in between subjects them to every
// fault that this package knows. The same seed gives the same faults in the same order.
type Chaos struct {
	Seed      uint64
	Duration  time.Duration
	Every     time.Duration // between two faults, on average
	Processes int           // at most at a time; at least one is always alive
	Rate      float64       // collections per second of each process, on average
	Beside    []Mischief    // faults that do not concern the node, mixed in
	Started   func(*Runtime)
	Log       func(string) // receives a line for each fault; nil: none
}

// A Mischief is a fault that does not concern the node. All its randomness comes from its argument.
type Mischief struct {
	Name string
	Do   func(*rand.Rand) error
}

// hostileNames are names of processes.
var hostileNames = []string{
	"orders", "billing", "a\nb", "\x1b[2J\x1b[31mred", `quote"back\slash`, "ünïcödé-☃", "{\"json\":1}", "../../etc/passwd", "%p-%n-%s", " blank ",
}

// A mischief is a fault of a runtime.
type mischief struct {
	name string
	do   func(r *Runtime, random *rand.Rand)
}

// upTo returns a random duration of at most most.
func upTo(random *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(1 + random.Int64N(int64(most)))
}

var mischiefs = []mischief{
	{"drop", func(r *Runtime, x *rand.Rand) { r.Drop(1 + x.IntN(60)) }},
	{"stall", func(r *Runtime, x *rand.Rand) { r.Stall(upTo(x, 3*time.Second)) }},
	{"stop", func(r *Runtime, x *rand.Rand) {
		r.Stop()
		time.AfterFunc(upTo(x, 3*time.Second), r.Continue)
	}},
	{"flood", func(r *Runtime, x *rand.Rand) {
		r.SetRate(1000)
		time.AfterFunc(upTo(x, 2*time.Second), func() { r.SetRate(r.cfg.Rate) })
	}},
	{"silence", func(r *Runtime, x *rand.Rand) {
		r.SetRate(0)
		time.AfterFunc(upTo(x, 3*time.Second), func() { r.SetRate(r.cfg.Rate) })
	}},
	{"break", func(r *Runtime, _ *rand.Rand) { r.Break() }},
	{"end", func(r *Runtime, _ *rand.Rand) { r.End() }},
	{"huge", func(r *Runtime, _ *rand.Rand) { r.Huge() }},
	{"trickle", func(r *Runtime, x *rand.Rand) { r.Trickle(upTo(x, 3*time.Second)) }},
	{"metadata", func(r *Runtime, x *rand.Rand) { r.Metadata(upTo(x, 2*time.Second)) }},
	{"refuse", func(r *Runtime, x *rand.Rand) { r.Refuse(0x80004005, upTo(x, 5*time.Second)) }},
	{"garble", func(r *Runtime, x *rand.Rand) { r.Garble(upTo(x, 5*time.Second)) }},
	{"hang stop", func(r *Runtime, x *rand.Rand) { r.HangStop(upTo(x, 5*time.Second)) }},
}

// deaths are the ways in which a process can end. They are rarer, so that processes live long
// enough for the other faults.
var deaths = []mischief{
	{"kill", func(r *Runtime, _ *rand.Rand) { r.Kill() }},
	{"kill from outside", func(r *Runtime, _ *rand.Rand) { r.proc.signal(unix.SIGKILL) }},
	{"exit", func(r *Runtime, x *rand.Rand) { r.Exit(byte(x.IntN(4))) }},
}

// Run runs the faults, and then ends those that still last; the processes that are alive continue.
func (c *Chaos) Run(n *Node) error {
	random := rand.New(rand.NewPCG(c.Seed, 0))
	for end := time.Now().Add(c.Duration); time.Now().Before(end); {
		living := n.living()
		if len(living) == 0 || len(living) < c.Processes && random.IntN(4) == 0 {
			if err := c.start(n, random); err != nil {
				return err
			}
			continue
		}
		if len(c.Beside) > 0 && random.IntN(4) == 0 {
			m := c.Beside[random.IntN(len(c.Beside))]
			c.log("%s happens", m.Name)
			if err := m.Do(random); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
			c.pause(random)
			continue
		}
		r, m := living[random.IntN(len(living))], mischiefs[random.IntN(len(mischiefs))]
		if random.IntN(20) == 0 {
			m = deaths[random.IntN(len(deaths))]
		}
		c.log("%s happens to %d", m.name, r.PID())
		m.do(r, random)
		c.pause(random)
	}
	for _, r := range n.living() {
		r.calm()
	}
	return nil
}

// pause waits until the next fault is due.
func (c *Chaos) pause(random *rand.Rand) {
	time.Sleep(time.Duration(random.ExpFloat64() * float64(c.Every)))
}

func (c *Chaos) start(n *Node, random *rand.Rand) error {
	cfg := Config{
		Name: hostileNames[random.IntN(len(hostileNames))], Rate: c.Rate * (0.1 + 1.8*random.Float64()), Exact: random.IntN(2) == 0,
		Background: 0.3 * random.Float64(), Heaps: 1 + random.IntN(3),
		Version: []string{"6.0.36", "8.0.22", "9.0.0", "10.0.1"}[random.IntN(4)],
		Env:     []string{"OTEL_SERVICE_NAME=" + hostileNames[random.IntN(len(hostileNames))]},
	}
	r, err := n.Start(cfg)
	if err != nil {
		return err
	}
	c.log("%d begins: %+v", r.PID(), cfg)
	if c.Started != nil {
		c.Started(r)
	}
	return nil
}

func (c *Chaos) log(format string, args ...any) {
	if c.Log != nil {
		c.Log(fmt.Sprintf(format, args...))
	}
}

// living returns the runtimes that have not ended.
func (n *Node) living() (list []*Runtime) {
	for _, r := range n.Runtimes() {
		if !r.Ended() {
			list = append(list, r)
		}
	}
	return list
}

// Ended reports whether the process has ended, or is about to.
func (r *Runtime) Ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.Ended
}

// calm ends all faults of a runtime that last for a time.
func (r *Runtime) calm() {
	r.Continue()
	r.free(&r.stalled)
	r.free(&r.deaf)
	r.SetRate(r.cfg.Rate)
	r.each(func(t *stream) { t.trickle, t.metadata = 0, 0 })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused, r.garbled, r.drop = 0, 0, 0
}
