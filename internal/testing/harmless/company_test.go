//go:build linux

package harmless

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// A company is another tool that has sessions at the same time as gclog.
type company struct {
	tool   *tool
	drops  bool // it closes connections without stopping its sessions
	random *rand.Rand
	note   func(format string, args ...any)

	sessions []*session
	held     []*session // begun before the runtime was resumed
	started  atomic.Int64
	leave    chan struct{} // closed when the tool is to stop
	left     chan error    // what was wrong; nil: stay was not called
}

func newCompany(t *tool, drops bool, seed uint64, note func(string, ...any)) *company {
	return &company{tool: t, drops: drops, random: rand.New(rand.NewPCG(seed, 0)), note: note, leave: make(chan struct{})}
}

func (c *company) begin() (*session, error) {
	s, err := c.tool.begin(coin(c.random))
	if err != nil {
		return nil, err
	}
	c.note("another tool has begun a session")
	c.started.Add(1)
	c.sessions = append(c.sessions, s)
	return s, nil
}

// visit begins a session with a suspended runtime. It does not stop it: that may make the runtime
// crash (docs/protocol.md, Stop).
func (c *company) visit() error {
	s, err := c.begin()
	if err != nil {
		return err
	}
	if c.drops && coin(c.random) {
		c.note("another tool drops the session")
		s.drop()
		return nil
	}
	c.held = append(c.held, s)
	return nil
}

// stay begins and ends sessions until depart is called.
func (c *company) stay() {
	c.left = make(chan error, 1)
	go func() { c.left <- c.work() }()
}

// mostDrops is how many sessions are dropped: if a runtime has a defect, not every cell needs to
// show it.
const mostDrops = 2

func (c *company) work() error {
	for _, s := range c.held {
		if err := c.end(s); err != nil {
			return err
		}
	}
	for i := 0; !c.drops || i < mostDrops; i++ {
		s, err := c.begin()
		if err != nil {
			return err
		}
		over := c.pause()
		if err := c.end(s); err != nil {
			return err
		}
		if over || c.pause() {
			return nil
		}
	}
	return nil
}

func (c *company) end(s *session) error {
	if c.drops {
		err := s.await()
		s.drop()
		c.note("another tool has dropped a session: %v", err)
		return err
	}
	err := s.stop()
	c.note("another tool has stopped a session: %v", err)
	return err
}

// pause waits for a random time, and reports whether the tool is to stop.
func (c *company) pause() bool {
	select {
	case <-c.leave:
		return true
	case <-time.After(upTo(c.random, 100*time.Millisecond)):
		return false
	}
}

// depart waits until the tool has ended its last session, and returns what was wrong.
func (c *company) depart() error {
	if c.left == nil {
		return nil
	}
	close(c.leave)
	err := <-c.left
	c.left = nil
	return err
}

// close closes the sessions that are left.
func (c *company) close() {
	_ = c.depart()
	for _, s := range c.sessions {
		s.drop()
	}
}
