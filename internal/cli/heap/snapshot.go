package heap

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/cli/ctl"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/internal/daemon"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *commands) snapshotCommand() *cli.Command {
	return &cli.Command{
		Name:      "snapshot",
		Aliases:   []string{"dump"},
		Usage:     "take a heap snapshot of a running process (.gcdump)",
		ArgsUsage: "PID|NAME",
		Description: `The whole program is paused while the runtime collects and walks its heap, about 0.1 to
0.2 s for each million objects and the time of a full collection; up to .NET 9 once more
when the request ends. The objects are buffered in the memory of the process until they
are sent. If the host, the container or the process may not have that much, no snapshot
is taken. NativeAOT programs walk their heap from .NET 10 on. Before, and where that may
crash them (.NET 10 with server GC), exit code 4. The names of their types are in the
symbols of the program (--symbols). After ^C, gclog waits for the end of a walk that has
begun, says what it was waiting for, and exits with 1.

Examples:
   gclog heap snapshot 4711                     into MyApp_20260131_120000.gcdump
   gclog heap snapshot MyApp -o before.gcdump
   gclog heap snapshot 4711 --dry-run           what it would do`,
		Flags: flags.Join(subject.Flags(), []cli.Flag{
			&cli.StringFlag{
				Name:     flags.Output,
				Aliases:  []string{"o"},
				Category: flags.OutputGroup,
				Usage:    "write to `FILE`, a name that ends with .gcdump",
			},
			&cli.BoolFlag{Name: "dry-run", Usage: "only print what the snapshot would do to the process"},
			&cli.BoolFlag{
				Name: "force",
				Usage: "take it even if there may not be enough memory, or space on the disk, or background " +
					"collections go on",
			},
			&cli.BoolFlag{Name: "keep-trace", Usage: "keep the recording too, as .nettrace next to the file"},
			symbolsFlag(),
			&cli.BoolFlag{
				Name:  "stack-names",
				Usage: "also ask for the methods whose local variables hold objects; that may take seconds",
			},
			&cli.StringFlag{
				Name:  "wait-bgc",
				Value: waitBackground.String(),
				Usage: "wait up to `TIME` for a background collection that is running",
			},
			&cli.StringFlag{
				Name:        "timeout",
				Usage:       "give up after `TIME` without an answer",
				DefaultText: "30s and more for a large heap",
			},
			&cli.Uint64Flag{Name: startKeyFlag, Hidden: true},
		}),
		Action: p.snapshot,
	}
}

// startKeyFlag is for the daemon: the host.Process.StartKey of the process that it means.
const startKeyFlag = "start-key"

func (p *commands) snapshot(c *cli.Context) error {
	ch, err := subject.Choose(c, c.Args().Slice())
	if err != nil {
		return err
	}
	if !ch.Made() {
		return exit.Usagef("heap snapshot needs the PID or the NAME of a process (gclog ps lists them)")
	}
	ch.Start = c.Uint64(startKeyFlag)
	var n naming
	if err := n.read(c); err != nil {
		return err
	}
	o := snapshotOptions{
		daemon:     usualSocket(c),
		force:      c.Bool("force"),
		dryRun:     c.Bool("dry-run"),
		stackNames: c.Bool("stack-names"),
		symbols:    n.symbols,
	}
	if o.wait, err = flags.Duration(c, "wait-bgc"); err != nil {
		return err
	}
	if o.timeout, err = flags.Duration(c, "timeout"); err != nil {
		return err
	}
	path, keep := c.String(flags.Output), c.Bool("keep-trace")
	if path != "" {
		if err := outfile.CheckDump(p.Run, path, keep); err != nil {
			return err
		}
	}
	ctx, release := p.snapshotSignals(c.Context, &o)
	defer release()
	s, err := p.planSnapshot(ctx, ch, o)
	if err != nil || o.dryRun {
		return err
	}
	if path == "" {
		path = dumpName(s.target, time.Now())
		if err := outfile.CheckDump(p.Run, path, keep); err != nil {
			return err
		}
	}
	return p.snapshotFile(ctx, s, path, keep)
}

// waitBackground is how long a background collection is waited for unless the user says otherwise.
const waitBackground = 30 * time.Second

// snapshotOptions are what the user says about a snapshot.
type snapshotOptions struct {
	force, dryRun bool
	stackNames    bool
	wait, timeout time.Duration // timeout 0: by the plan
	patience      time.Duration // after an interrupt; 0: as long as it takes
	daemon        string        // path of its control socket
	symbols       []string      // files and folders with symbols of NativeAOT programs
}

// usualSocket returns the path of the control socket of this host's daemon; "" if there is none.
func usualSocket(c *cli.Context) string {
	path, _ := ctl.Socket(c)
	return path
}

// A plannedSnapshot is a snapshot that can be taken.
type plannedSnapshot struct {
	target *host.Target
	facts  gclog.Process
	plan   *attach.SnapshotPlan
	o      snapshotOptions
	walked uint64 // bytes that the walk has taken, when it was taken
}

// answerTime is how long a process may take to say what it is, before a snapshot.
const answerTime = 30 * time.Second

// planSnapshot finds the process, finds out whether a snapshot can be taken, and prints what it will
// do to the process.
func (p *commands) planSnapshot(ctx context.Context, ch subject.Choice, o snapshotOptions) (*plannedSnapshot, error) {
	target, err := subject.Find(ctx, p.Run, ch)
	if err != nil {
		return nil, orInterrupted(ctx, err, "the list of processes")
	}
	target.Timeout = cmp.Or(o.timeout, answerTime)
	s, err := p.planOf(ctx, target, o)
	if err != nil {
		return nil, orInterrupted(ctx, err, fmt.Sprintf("an answer of process %d", target.PID))
	}
	say := p.UI.Say
	if o.dryRun {
		say = func(text string) { fmt.Fprintln(p.Out, view.OneLine(text)) }
	}
	say(s.text())
	if most := s.plan.BufferLimit(); s.plan.Need > most {
		say(fmt.Sprintf("the runtime buffers %s at most: if the events take more, some are lost, and the snapshot "+
			"is incomplete", formats.SizeText(int64(most))))
	}
	return s, p.allow(s)
}

// orInterrupted returns an error, or one that says what was being waited for when the user
// interrupted gclog: what was asked for has not been done.
func orInterrupted(ctx context.Context, err error, waited string) error {
	if ctx.Err() == nil {
		return err
	}
	return exit.With(exit.Session, fmt.Errorf("interrupted: waiting for %s", waited))
}

// planOf finds out whether a snapshot of a process can be taken.
func (p *commands) planOf(ctx context.Context, target *host.Target, o snapshotOptions) (*plannedSnapshot, error) {
	if err := target.CheckStartup(ctx); err != nil {
		return nil, err
	}
	s := &plannedSnapshot{target: target, o: o}
	err := s.refusal() // a process that is stopped would not answer
	if err != nil {
		return nil, err
	}
	if s.facts, err = watch.Identify(ctx, p.Run, target); err != nil && !session.IsUnknownCommand(err) {
		return nil, doctor.Explain(ctx, target, err)
	}
	if err := s.refusal(); err != nil {
		return nil, err
	}
	s.plan = attach.PlanSnapshot(target, &s.facts, s.lastFull(ctx))
	if o.stackNames {
		s.plan.AllowNames()
	}
	return s, nil
}

// refusal returns why no snapshot can be taken, as far as that is known, or nil.
func (s *plannedSnapshot) refusal() error {
	err := attach.SnapshotRefusal(s.target, &s.facts)
	if err == nil {
		return nil
	}
	if _, unwalkable := errors.AsType[*host.TargetError](err); unwalkable {
		return err
	}
	return exit.With(exit.Session, err)
}

// allow returns an error if there may not be enough memory.
func (p *commands) allow(s *plannedSnapshot) error {
	lack := s.plan.Lacks()
	switch {
	case lack == nil:
		return nil
	case s.o.force:
		p.UI.Sayf("%s has only %s left: the process may be killed", lack.Of, formats.SizeText(int64(lack.Free())))
		return nil
	}
	return exit.With(exit.Session,
		fmt.Errorf("refused: the events may need %s, but %s has only %s of %s left; --force takes the snapshot anyway",
			formats.SizeText(int64(s.plan.Need)), lack.Of, formats.SizeText(int64(lack.Free())),
			formats.SizeText(int64(lack.Limit))))
}

// askTime is how long the daemon may take to say what it knows of a process.
const askTime = time.Second

// lastFull returns the last full collection of the process that the daemon of this host has seen, or
// nil.
func (s *plannedSnapshot) lastFull(ctx context.Context) *attach.FullGC {
	if s.o.daemon == "" || s.facts.Cookie == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	answer, err := control.Ask(ctx, s.o.daemon, http.MethodGet, control.PathStatus)
	if err != nil {
		return nil
	}
	var all daemon.Processes
	_ = json.Unmarshal(answer, &all) // without an answer nothing is known
	for i := range all.Processes {
		if all.Processes[i].EntityID == s.facts.Cookie {
			return all.Processes[i].LastFull
		}
	}
	return nil
}

// text says what the snapshot will do.
func (s *plannedSnapshot) text() string {
	again := ""
	if s.plan.Twice {
		again = ", and once more at the end, as with every runtime before .NET 10"
	}
	version := s.facts.RuntimeVersion
	if version != "" {
		version = ", .NET " + version
	}
	pause := fmt.Sprintf("%s to %s", view.ShortTime(s.plan.Shortest), view.ShortTime(s.plan.Longest))
	memory := "up to " + formats.SizeText(int64(s.plan.Need))
	if s.plan.Heap == 0 { // other systems than Linux do not show the memory of a process
		pause, memory = "an unknown time (a full collection, and 0.1 to 0.2 s for each million objects)",
			"0.6 to 1.3 times the size of these objects"
	}
	until := " until they are sent"
	if s.plan.Ahead {
		until = ", less if they are read as fast as they come"
	}
	text := fmt.Sprintf("process %d (%s%s) will be paused for %s%s; the events take %s of its memory%s",
		s.target.PID, s.facts.Name, version, pause, again, memory, until)
	if last := s.plan.Last; last != nil {
		text += fmt.Sprintf("; its last full collection, %s ago, paused it for %s and left %s", view.ShortTime(
			time.Since(last.Time)), view.ShortTime(time.Duration(last.Pause)), formats.SizeText(int64(last.Heap)))
	}
	return text
}

// take takes the snapshot. The result must be closed, also to let other processes of gclog go on.
func (p *commands) take(ctx context.Context, s *plannedSnapshot, spool attach.Spool) (*attach.Snapshot, error) {
	o := attach.SnapshotOptions{
		BufferMB: s.plan.BufferMB, Most: s.plan.StreamLimit, Timeout: s.o.timeout, WaitBackground: s.o.wait,
		DuringBackground: s.o.force, StackNames: s.o.stackNames, Patience: s.o.patience, Spool: spool,
		Progress: &attach.SnapshotProgress{}, Held: func(ctx context.Context) func() { return p.holdDaemon(ctx, s) },
	}
	if o.Timeout == 0 {
		o.Timeout = s.plan.Timeout()
		if s.plan.Ahead {
			o.Answer = answerTime
		}
	}
	defer func() { s.walked = uint64(o.Progress.Received.Load()) }()
	before := s.target.PrivateMemory()
	stop := p.UI.Watch(func(since time.Duration) string {
		grown := s.target.PrivateMemory()
		grown -= min(before, grown)
		return fmt.Sprintf("[%s] waiting for %s: %s received, its memory has grown by %s",
			view.Elapsed(since), s.phase(o.Progress),
			formats.SizeText(o.Progress.Received.Load()), formats.SizeText(int64(grown)))
	})
	var waited string // for what, when the user interrupted gclog
	taking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		waited = s.phase(o.Progress)
		cancel()
	})()
	over := make(chan struct{})
	defer context.AfterFunc(taking, func() {
		select {
		case <-time.After(time.Second):
			p.UI.Sayf("waiting for process %d: the walk of its heap cannot be canceled%s",
				s.target.PID, p.UI.OrInterrupt())
		case <-over:
		}
	})()
	taken, err := attach.TakeSnapshot(taking, s.target, o)
	close(over)
	stop()
	switch {
	case errors.Is(err, attach.ErrBackground):
		return nil, exit.With(exit.Session,
			fmt.Errorf("refused: background collections of process %d went on for %v, and the runtime would walk its "+
				"heap at every collection until they end; --wait-bgc waits longer, --force takes the snapshot anyway",
				s.target.PID, s.o.wait))
	case errors.Is(err, attach.ErrNoWalk):
		return nil, exit.With(exit.Unsupported, fmt.Errorf(
			"process %d: %w, as is the case with runtimes other than CoreCLR and NativeAOT", s.target.PID, err))
	case err != nil && taking.Err() != nil:
		return nil, orInterrupted(ctx, err, waited)
	case err != nil:
		return nil, doctor.Explain(ctx, s.target, err)
	case taken.Background:
		p.UI.Sayf("a background collection was running: the runtime has walked the heap at every collection " +
			"until it ended")
	}
	return taken, nil
}

// holdDaemon asks the daemon of this host not to touch the process meanwhile, if there is one that
// this user may ask. The lock on the process says the same; but the daemon may have another /proc.
func (p *commands) holdDaemon(ctx context.Context, s *plannedSnapshot) func() {
	release, err := control.Hold(ctx, s.o.daemon, s.target.PID, s.target.StartKey)
	if err == nil {
		return release
	}
	if refused, ok := errors.AsType[*control.RefusedError](err); ok {
		p.UI.Sayf("the daemon may change its session with the process meanwhile, which would make the runtime walk "+
			"its heap again: %v", refused)
	}
	return func() {}
}

// phase returns what a snapshot is waiting for.
func (s *plannedSnapshot) phase(progress *attach.SnapshotProgress) string {
	switch attach.SnapshotPhase(progress.Phase.Load()) {
	case attach.SnapshotStarts:
		return fmt.Sprintf("the sessions of process %d", s.target.PID)
	case attach.SnapshotBackground:
		return "a background collection to end"
	case attach.SnapshotWalks:
		return "the runtime to collect and walk its heap"
	case attach.SnapshotReads:
		return "the objects"
	}
	return "the session to end"
}

// A lossError says that a snapshot lacks events of the walk.
type lossError struct{ error }

func (e *lossError) Unwrap() error { return e.error }

// whole calls take for a snapshot, and once more, with twice the buffer, if that has lost events of the
// walk and the process may take so much memory.
func (p *commands) whole(ctx context.Context, s *plannedSnapshot, take func(*plannedSnapshot) error) error {
	err := take(s)
	if _, lost := errors.AsType[*lossError](err); !lost || ctx.Err() != nil || !s.target.Alive() {
		return err
	}
	again := *s
	if again.plan = s.plan.Again(s.target.Rooms()); again.plan == nil {
		return err
	}
	if lack := again.plan.Lacks(); lack != nil && !s.o.force {
		p.UI.Sayf("events of the walk were lost; with twice the buffer they may need %s, but %s has only %s of %s left",
			formats.SizeText(int64(again.plan.Need)),
			lack.Of, formats.SizeText(int64(lack.Free())), formats.SizeText(int64(lack.Limit)))
		return err
	}
	p.UI.Sayf("events of the walk were lost: gclog takes the snapshot once more, with a buffer of %d MB "+
		"instead of %d MB", again.plan.BufferMB, s.plan.BufferMB)
	err = take(&again)
	s.walked = again.walked
	return err
}

// snapshotFile takes a snapshot and writes it to a file.
func (p *commands) snapshotFile(ctx context.Context, s *plannedSnapshot, path string, keep bool) error {
	tried := false
	return p.whole(ctx, s, func(s *plannedSnapshot) error {
		if tried && keep { // the recording of the first attempt
			if err := os.Remove(outfile.TracePath(path)); err != nil {
				return cause.Of(err)
			}
		}
		tried = true
		return p.snapshotInto(ctx, s, path, keep)
	})
}

func (p *commands) snapshotInto(ctx context.Context, s *plannedSnapshot, path string, keep bool) (err error) {
	if err := s.checkSpace(path, keep); err != nil {
		return err
	}
	if err := s.checkOwnMemory(p.Host); err != nil {
		return err
	}
	trace, err := openSpool(path, keep, int(s.plan.BufferMB)<<20, s.o.force)
	if err != nil {
		return err
	}
	defer trace.remove()
	ctx, guard, release := p.guardSnapshot(ctx, s)
	defer release()
	var names string
	read := func(r io.Reader) (*heap.Graph, error) {
		g, err := heap.Read(r)
		if g != nil {
			names = p.resolveNames(ctx, g, s)
		}
		return g, err
	}
	g, taken, err := takeInto(ctx, p, s, guard, &spoolReader{spool: trace}, trace, read,
		func(g *heap.Graph) *heap.Walk { return &g.Walk })
	if taken == nil {
		return err
	}
	defer taken.Close()
	p.sayPauses(s, taken)
	switch {
	case err != nil && keep:
		return fmt.Errorf("%w; gclog heap stat %s counts what it contains", err, trace.Path)
	case err != nil:
		return fmt.Errorf("%w; with --keep-trace, gclog heap stat counts what there is", err)
	case ctx.Err() != nil:
		return orInterrupted(ctx, nil, waitedNames)
	}
	size, err := p.writeSnapshot(path, s, guard, g, p.dumpInfo(s, taken, g, names))
	if err != nil {
		return err
	}
	all := g.Histogram().Total()
	p.UI.Sayf("%s: %s in %s, no event of the walk lost, %s, %s (gclog heap stat %[1]s lists the types)",
		path, view.Counted(all.Objects, "object"), formats.SizeText(int64(all.Bytes)), names, formats.SizeText(size))
	return nil
}

// writeSnapshot writes the file of a snapshot, and returns its size.
func (p *commands) writeSnapshot(
	path string, s *plannedSnapshot, guard *memoryGuard, g *heap.Graph, info *heap.DumpInfo,
) (int64, error) {
	reserve := output.Reserve{Folder: filepath.Dir(path)}
	if s.o.force || outfile.IsDevice(path) {
		reserve.Folder = ""
	}
	size, err := outfile.Write(path, outfile.SnapshotMode, func(w io.Writer) error {
		return g.WriteDump(&guardedWriter{Writer: w, guard: guard, reserve: reserve}, info)
	})
	return size, guard.explain(err)
}

// dumpShare is the size of a .gcdump file as a share of that of the recording.
const dumpShare = 0.4

// checkSpace returns an error if there is no space for the file, or for the recording that is made
// meanwhile.
func (s *plannedSnapshot) checkSpace(path string, keep bool) error {
	dir := filepath.Dir(path)
	spool := dir
	if !keep {
		spool = outfile.ScratchFolders(dir)[0]
	}
	dump, trace := uint64(dumpShare*float64(s.plan.Need)), s.plan.Need
	if spool == dir {
		return s.checkDisk(dir, dump+trace)
	}
	if err := s.checkDisk(spool, trace); err != nil {
		return err
	}
	return s.checkDisk(dir, dump)
}

// checkDisk returns an error if a disk has no space for so many bytes, without its last tenth.
func (s *plannedSnapshot) checkDisk(dir string, need uint64) error {
	disk, err := output.DiskOf(dir)
	if err != nil || disk.Spare() >= need || s.o.force {
		return nil // a disk that cannot be asked may be large enough
	}
	return exit.Dataf("refused: the snapshot may need %s, but %s has only %s of %s left, the last tenth of which is "+
		"for others; --force takes it anyway",
		formats.SizeText(int64(need)), dir, formats.SizeText(int64(disk.Free)), formats.SizeText(int64(disk.Size)))
}

// checkOwnMemory returns an error if gclog itself may not have the memory for the graph: in a
// container, or as a service, its limit is not that of the host.
func (s *plannedSnapshot) checkOwnMemory(h *host.Host) error {
	need := s.plan.OwnNeed()
	lack := attach.Lacks(ownRooms(h), need)
	if lack == nil || s.o.force {
		return nil
	}
	return exit.With(exit.Session, fmt.Errorf(
		"refused: gclog itself may need %s, but %s has only %s of %s left; --force takes the snapshot anyway",
		formats.SizeText(int64(need)), lack.Of, formats.SizeText(int64(lack.Free())),
		formats.SizeText(int64(lack.Limit))))
}

// waitedNames is what was being waited for when gclog is interrupted while it reads assemblies.
const waitedNames = "the names of the types"

// resolveNames finds the exact names of the types of a running program. It says how many have one;
// arrays of primitive types, for example, need no definition for that.
func (p *commands) resolveNames(ctx context.Context, g *heap.Graph, s *plannedSnapshot) string {
	a := p.modulesOf(ctx, s)
	found := g.Resolve(ctx, a)
	p.sayNameless(processName(s.target.PID), a, g.Types)
	exact := len(g.Types) - g.UnknownTypes() + found
	for i := range g.Types {
		if g.Types[i].Defined() {
			exact--
		}
	}
	text := fmt.Sprintf("%d of %s with exact names", exact, view.Counted(uint64(len(g.Types)), "type"))
	if n := g.UnknownTypes(); n > 0 {
		text += fmt.Sprintf(", %d without a name", n)
	}
	return text
}

// histogramOf takes a snapshot of a process and counts its objects. It writes no file.
func (p *commands) histogramOf(
	ctx context.Context, ch subject.Choice, socket string, n *naming,
) (*heap.Histogram, error) {
	s, err := p.planSnapshot(ctx, ch, snapshotOptions{daemon: socket, wait: waitBackground, symbols: n.symbols})
	if err != nil {
		return nil, err
	}
	var h *heap.Histogram
	err = p.whole(ctx, s, func(s *plannedSnapshot) (err error) {
		h, err = p.count(ctx, s, n)
		return err
	})
	return h, err
}

func (p *commands) count(ctx context.Context, s *plannedSnapshot, n *naming) (*heap.Histogram, error) {
	ctx, guard, release := p.guardSnapshot(ctx, s)
	defer release()
	r, w := io.Pipe()
	h, taken, err := takeInto(ctx, p, s, guard, r, w, heap.ReadHistogram,
		func(h *heap.Histogram) *heap.Walk { return &h.Walk })
	if taken != nil {
		defer taken.Close()
		p.sayPauses(s, taken)
	}
	if h != nil {
		a := p.modulesOf(ctx, s)
		a.Resolve(ctx, h.Types, h.Modules)
		n.remember(h.Types)
		p.sayNameless(processName(s.target.PID), a, h.Types)
	}
	if err == nil && ctx.Err() != nil {
		return nil, orInterrupted(ctx, nil, waitedNames)
	}
	return h, err
}

// takeInto takes a snapshot and reads it at the same time: what is written to w can be read from r.
// What is incomplete is returned with an error that says so.
func takeInto[T any](
	ctx context.Context, p *commands, s *plannedSnapshot, guard *memoryGuard, r io.Reader, w attach.Spool,
	read func(io.Reader) (*T, error), walk func(*T) *heap.Walk,
) (*T, *attach.Snapshot, error) {
	done := make(chan error)
	var x *T
	go func() {
		var err error
		x, err = read(&guardedReader{Reader: r, guard: guard})
		_, _ = io.Copy(io.Discard, r)
		done <- err
	}()
	taken, err := p.take(ctx, s, w)
	damage := <-done
	name := fmt.Sprintf("the heap of process %d", s.target.PID)
	switch {
	case err != nil:
		return nil, nil, guard.explain(err)
	case guard.err() != nil:
		taken.Close()
		return nil, nil, guard.err()
	case x == nil:
		return nil, taken, exit.Dataf("%s: %w", name, damage)
	}
	if n := walk(x).Others; n > 0 {
		p.UI.Sayf("the runtime has walked its heap %s more, for another tool or at other collections of the program",
			view.Counted(uint64(n), "time"))
	}
	p.sayLesser(name, walk(x))
	err = unread(name, damage, walk(x))
	switch w := walk(x); {
	case err == nil:
	case taken.Late:
		err = lacking(name, "its walk was not over in time; a longer --timeout waits for that")
	case w.Lost > 0 || w.Gaps || w.Cut:
		err = &lossError{err}
	}
	return x, taken, err
}

// sayPauses prints which pauses a snapshot has caused. While its session was open, each session that
// another tool started has caused one more.
func (p *commands) sayPauses(s *plannedSnapshot, taken *attach.Snapshot) {
	own := 1
	if s.plan.Twice {
		own = 2
	}
	if more := len(taken.GCs) - own; more > 0 {
		defer p.UI.Sayf("%s more than usual: sessions of another tool have caused them",
			view.Counted(uint64(more), "GC"))
	}
	for _, gc := range taken.GCs {
		p.UI.Sayf("GC %d has paused the program for %.1f ms", gc.Number, float64(gc.Pause())/1e6)
	}
}

// modulesOf returns the assemblies of a running program, and its symbols.
func (p *commands) modulesOf(ctx context.Context, s *plannedSnapshot) *heap.Assemblies {
	a := &heap.Assemblies{
		Notify: p.UI.Say,
		Open:   func(ctx context.Context, path string) (heap.File, error) { return s.target.OpenFile(ctx, path) },
	}
	a.Add(s.target.Modules(ctx)...)
	for _, path := range s.o.symbols {
		if err := a.AddSymbols(path); err != nil {
			p.UI.Sayf("--symbols %s: %v", path, cause.Of(err))
		}
	}
	return a
}

// dumpInfo returns what the file says about how it was taken.
func (p *commands) dumpInfo(s *plannedSnapshot, taken *attach.Snapshot, g *heap.Graph, names string) *heap.DumpInfo {
	var text strings.Builder
	fmt.Fprintf(&text, "gclog %s: %s\n", p.Version, strings.TrimSpace(s.facts.Name+" "+s.facts.RuntimeVersion))
	for _, gc := range taken.GCs {
		fmt.Fprintf(&text, "GC %d paused the program for %.1f ms\n", gc.Number, float64(gc.Pause())/1e6)
	}
	fmt.Fprintln(&text, names)
	at := g.Time
	if at.IsZero() { // the clock of the process may be wrong
		at = time.Now()
	}
	return &heap.DumpInfo{
		Log: text.String(), Time: at, Machine: program.Hostname(), Process: s.facts.Name, ProcessID: s.target.PID,
	}
}
