package attach

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// ProfileOptions configures TakeProfile.
type ProfileOptions struct {
	Duration    time.Duration
	Allocations bool // who allocates; else only who asks for collections
	// Budget is the share of its own CPU time that the target may spend on this, as ProfileBudget; 0: any. Requests
	// of collections are all counted.
	Budget float64
	// Builder reads the profile. Its Progress, and its Profile, can be asked for meanwhile. nil: nobody does.
	Builder *stacks.Builder
	Warn    func(string) // receives messages for people about problems that end nothing
	// Waiting is called when the runtime takes long to end a session; nil: not needed.
	Waiting func()
}

// A LiveProfile is the profile of a process that was watched for some time.
type LiveProfile struct {
	*stacks.Profile
	End  gclog.End     // how the process ended meanwhile; EndDetached: it did not
	Cost time.Duration // CPU time that this took the process, an estimate
	CPU  time.Duration // CPU time of the process meanwhile; 0: unknown
	// Gap reports that for some time the runtime did not report what was allocated: another tool samples allocations.
	Gap bool
}

const (
	// namesTime is how long the runtime may take to send the names of all methods; namesPatience is how long
	// the profile waits for them before it begins.
	namesTime     = 30 * time.Second
	namesPatience = 5 * time.Second
	// profileLook is how often the state of a profile is looked at.
	profileLook = 200 * time.Millisecond
	// dryTime is how long no allocation may be reported, while there are collections because of them, until the
	// session is opened anew.
	dryTime = 5 * time.Second
)

// TakeProfile watches a process, until the duration is over, the process ends or ctx is done, and returns who
// allocates, or who asks for collections. facts is what Identify has returned. An error means that there is no
// profile.
//
// Up to three sessions are open at a time. The first one reports the names of methods that are compiled from then
// on; the second one is ended at once, when the runtime reports the names of all methods so far. So frames have
// names even if the process is killed. The third one reports what the profile is about. If that costs more than
// the budget, it is open for short times only, which stand for the time between them: see pace.
func TakeProfile(ctx context.Context, t *host.Target, facts *gclog.Process, o ProfileOptions) (*LiveProfile, error) {
	p := &profiler{o: o, target: t, b: o.Builder, pace: newPace(&o, facts)}
	if p.b == nil {
		p.b = stacks.NewBuilder()
	}
	watch := t.Watch()
	defer watch.Close()
	over, finish := context.WithCancel(context.Background())
	defer finish()
	if facts.Flavor != gclog.FlavorNativeAOT {
		names, err := p.open(ctx, namesConfig(), p.b.ReadNames)
		if err != nil {
			return nil, err
		}
		p.also.Go(func() {
			<-over.Done()
			p.end(names)
		})
		p.rundown(ctx, names, facts)
	}
	err := p.watch(ctx, finish)
	finish()
	p.also.Wait()
	if err != nil {
		return nil, err
	}
	return p.result(watch, facts), nil
}

// A profiler takes a profile.
type profiler struct {
	o      ProfileOptions
	target *host.Target
	b      *stacks.Builder
	pace   *pace
	also   sync.WaitGroup // the sessions with names
	gap    bool
}

// namesConfig is that of the session with the names of methods that are compiled or first used. It also has events
// of collections: a session without any would stay if gclog was killed (docs/protocol.md, Stop).
func namesConfig() session.Config {
	return session.Config{BufferMB: BufferMB, Providers: []session.Provider{{
		Name: clr.RuntimeProvider, Keywords: clr.KeywordJIT | clr.KeywordR2REntryPoint, Level: clr.LevelVerbose,
		Only: []uint32{clr.IDMethodLoad, clr.IDMethodUnload, clr.IDR2REntryPoint},
	}, {
		Name: clr.PrivateProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational,
	}}}
}

// profileConfig is that of the session with what the profile is about.
func (o *ProfileOptions) profileConfig() session.Config {
	r := session.Provider{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational}
	r.Only = []uint32{
		clr.IDGCStart, clr.IDGCEnd, clr.IDGCSuspendEEBegin, clr.IDGCSuspendEEEnd, clr.IDGCRestartEEBegin,
		clr.IDGCRestartEEEnd, clr.IDGCTriggered,
	}
	if o.Allocations {
		r.Level = clr.LevelVerbose
		r.Only = append(r.Only, clr.IDGCAllocationTick, clr.IDGCJoin)
	}
	return session.Config{BufferMB: BufferMB, Stacks: true, Providers: []session.Provider{r}}
}

// A feed is a session that a Builder reads.
type feed struct {
	stream *session.Stream
	began  chan struct{} // closed when the first byte has arrived
	first  sync.Once
	done   chan struct{} // closed when the stream has ended
	err    error         // how it ended
}

// open opens a session, and has it read.
func (p *profiler) open(
	ctx context.Context, cfg session.Config, read func(io.Reader) error,
) (*feed, error) {
	stream, err := p.target.StartTracing(ctx, cfg)
	if err != nil {
		return nil, err
	}
	f := &feed{stream: stream, began: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		if defect := Contain(func() { f.err = read(f) }); defect != nil {
			f.err = defect
		}
		leave(context.Background(), stream, f.err)
	}()
	return f, nil
}

// Read implements io.Reader.
func (f *feed) Read(b []byte) (int, error) {
	n, err := f.stream.Read(b)
	if n > 0 {
		f.first.Do(func() { close(f.began) })
	}
	return n, err
}

// end ends a session, and returns when all of it was read.
func (p *profiler) end(f *feed) {
	stop(context.Background(), f.stream, f.done, stopTime, p.o.Waiting)
	<-f.done
}

// rundown asks for the names of all methods so far, and waits for them, but not for long. Before the first byte of
// another session that would harm a runtime that is still suspended (docs/protocol.md, Stop).
func (p *profiler) rundown(ctx context.Context, other *feed, facts *gclog.Process) {
	size := rundownMB(p.target, facts)
	if size == 0 {
		p.o.Warn(fmt.Sprintf("process %d has too little memory left to name its methods, so they are not named",
			p.target.PID))
		return
	}
	over := make(chan struct{})
	p.also.Go(func() {
		defer close(over)
		limited, cancel := context.WithTimeout(ctx, namesTime)
		defer cancel()
		select {
		case <-other.began:
		case <-other.done:
			return
		case <-limited.Done():
			return
		}
		f, err := p.open(limited, session.Config{BufferMB: size, RundownMethods: true, Providers: []session.Provider{{
			Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational,
		}}}, p.b.ReadNames)
		if err == nil {
			stop(limited, f.stream, f.done, namesTime, nil)
			<-f.done
			err = f.err
		}
		if err != nil && ctx.Err() == nil && p.target.Alive() {
			p.o.Warn(fmt.Sprintf("process %d does not name its methods: %v", p.target.PID, err))
		}
	})
	select {
	case <-over:
	case <-time.After(namesPatience):
	}
}

// rundownMB returns the size of the buffer for the names of all methods, which is filled before anything is read
// of it, and takes memory as it is needed; 0: the process has too little of that.
func rundownMB(t *host.Target, facts *gclog.Process) uint32 {
	const least, most, early = 24, 128, 256
	size := uint64(most) // for 112,000 methods
	if major := gclog.Major(facts.RuntimeVersion); major < 9 {
		size = early // for 48,000
	}
	for _, room := range t.Rooms() {
		size = min(size, room.Free()>>20/4)
	}
	if size < least {
		return 0
	}
	return uint32(size)
}

// watch opens the sessions with what the profile is about. finish is called when the last one is about to be ended.
func (p *profiler) watch(ctx context.Context, finish func()) error {
	f, err := p.window(ctx)
	if err != nil {
		return err
	}
	length := p.pace.begin(p.usage())
	ctx, cancel := context.WithTimeout(ctx, p.o.Duration)
	defer cancel()
	for more := true; more; {
		if more = p.hold(ctx, f, length); !more {
			finish()
		}
		p.end(f)
		if !more {
			break
		}
		next := p.pace.next(p.usage())
		if next.other {
			p.b.StandFor(p.pace.span())
		}
		if more = p.sleep(ctx, next.wait); more {
			length = next.length
			f, err = p.window(ctx)
			more = err == nil
		}
	}
	p.b.StandFor(p.pace.span())
	if err != nil && ctx.Err() == nil && p.target.Alive() {
		p.o.Warn(fmt.Sprintf("process %d was not watched to the end: %v", p.target.PID, err))
	}
	return nil
}

// window opens a session with what the profile is about. A process that is stopped does not answer: it is waited for.
func (p *profiler) window(ctx context.Context) (*feed, error) {
	for p.target.Stopped() && p.sleep(ctx, profileLook) {
	}
	return p.open(ctx, p.o.profileConfig(), p.b.ReadWindow)
}

// hold keeps a session open for some time, and reports whether another one may follow. It ends early if that costs
// too much, or if nothing is reported any more: while another tool samples allocations, and after that until a
// session is opened anew, the runtime reports them to nobody else.
func (p *profiler) hold(ctx context.Context, f *feed, length time.Duration) (more bool) {
	over := time.NewTimer(length)
	defer over.Stop()
	look := time.NewTicker(profileLook)
	defer look.Stop()
	events, since := uint64(0), time.Now()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-f.done:
			if !p.target.Ends(ctx, exitTime) && ctx.Err() == nil {
				p.o.Warn(fmt.Sprintf("process %d is still running, but its runtime ended the session", p.target.PID))
			}
			return false
		case <-over.C:
			return true
		case <-look.C:
		}
		now := p.b.Progress()
		if now.Events != events {
			events, since = now.Events, time.Now()
		}
		if p.o.Allocations && now.Dry && time.Since(since) > dryTime {
			p.gap = true
			return true
		}
		if p.pace.tooMuch(p.usage()) {
			return true
		}
	}
}

// sleep waits, and reports whether there is still something to do.
func (p *profiler) sleep(ctx context.Context, d time.Duration) bool {
	for until := time.Now().Add(d); ; {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(min(time.Until(until), profileLook)):
		}
		if !p.target.Alive() || !time.Now().Before(until) {
			return p.target.Alive()
		}
	}
}

// usage returns what the target has used, and what was read of it.
func (p *profiler) usage() usage {
	now := p.b.Progress()
	u := usage{at: time.Now(), events: now.Scanned, watched: now.Watched, methods: now.Methods}
	u.cpu, u.knowsCPU = p.target.CPUTime()
	return u
}

// result completes the profile.
func (p *profiler) result(watch *host.Watch, facts *gclog.Process) *LiveProfile {
	r := &LiveProfile{Profile: p.b.Profile(), End: gclog.End{Reason: gclog.EndDetached}}
	r.Gap = p.gap || r.Gaps > 0
	process := *facts
	process.Merge(&r.Process)
	r.Process = process
	r.Cost, r.CPU = p.pace.total(p.usage())
	if p.target.Ends(context.Background(), 0) {
		ended(&r.End, watch.Outcome())
	}
	return r
}
