package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/rotate"
)

// A place is a file, a pipe or standard output. Several Writers can share it, one for each process.
// A caller that got it from open must close it.
type place struct {
	key    string
	look   look
	opener *Opener
	users  int           // guarded by the opener's lock; 0: it is being closed
	ready  chan struct{} // closed when it is open, or opening it has failed: see err
	err    error
	gone   chan struct{} // closed when it is closed, and its path free

	mu      sync.Mutex // guards what follows; held during disk I/O, which may hang
	out     formats.Output
	name    string // for people
	release func() error
	bytes   func() int64
	rotated *rotate.File // nil: not a regular file
	colored bool
	screen  func() (width, height int) // nil: not a terminal

	asking sync.Mutex
	asked  work
	busy   bool // a goroutine does what was asked
}

// FilesOpen is how many open files a written file needs: itself, and once more for its lock.
const FilesOpen = 2

// A look is what all records of a file have in common: a file cannot have two.
type look struct {
	format string
	rotate rotate.Options
}

func (s *Spec) look() look { return look{s.Format.Name, s.Rotate} }

// work is what can be asked for; a greater one includes the smaller ones.
type work uint8

const (
	nothing work = iota
	follow
	reopen
)

// Write implements formats.Output. It may be called by several goroutines.
func (p *place) Write(head formats.Head, group []byte, hold bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	bytes, files := p.bytes(), p.started()
	err := p.out.Write(head, group, hold)
	o := p.opener
	o.Written.Add(p.bytes() - bytes)
	if files > 0 {
		o.Rotations.Add(int64(p.started() - files))
	}
	if err != nil {
		o.Errors.Add(1)
	}
	return err
}

// started returns how many files the place has started. p.mu is held.
func (p *place) started() int {
	if p.rotated == nil {
		return 0
	}
	return p.rotated.Started()
}

func (p *place) size() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes()
}

// file calls f with the file of the place, if the place is a file and open.
func (p *place) file(f func(*rotate.File)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rotated != nil {
		f(p.rotated)
	}
}

// ask has something done soon. However often it is called, one goroutine does the work: on a disk
// that hangs, more and more would pile up.
func (p *place) ask(w work) {
	p.asking.Lock()
	defer p.asking.Unlock()
	p.asked = max(p.asked, w)
	if !p.busy {
		p.busy = true
		go p.work()
	}
}

func (p *place) work() {
	for {
		switch p.next() {
		case reopen:
			p.file((*rotate.File).Reopen)
		case follow:
			p.file((*rotate.File).Follow)
		default:
			return
		}
	}
}

func (p *place) next() work {
	p.asking.Lock()
	defer p.asking.Unlock()
	w := p.asked
	p.asked, p.busy = nothing, w != nothing
	return w
}

// Opener opens the outputs of one run of gclog. Its places are shared.
type Opener struct {
	Files  rotate.Files
	Stdout io.Writer
	Stderr io.Writer
	Warn   func(string) // receives messages about problems that end nothing: an output fails, or works again

	// Totals of all outputs so far: bytes written, writes that failed, files that replaced a full one.
	Written, Errors, Rotations atomic.Int64

	// mu is never held during disk I/O: a disk that hangs must not keep others from opening and
	// closing theirs.
	mu     sync.Mutex
	places map[string]*place // by path, including those that are being opened or closed
}

// changeTime is how long others may take to close a file that is to get another look.
const changeTime = 3 * time.Second

// Rotate makes every output start a new file, soon.
func (o *Opener) Rotate() { o.ask(reopen) }

// Follow makes every file check, soon, what others have done with it.
func (o *Opener) Follow() { o.ask(follow) }

func (o *Opener) ask(w work) {
	for _, x := range o.all() {
		x.ask(w)
	}
}

// Paths returns the paths of the places that are open, or being opened or closed.
func (o *Opener) Paths() (list []string) {
	for _, x := range o.all() {
		list = append(list, x.key)
	}
	return list
}

func (o *Opener) all() []*place {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Collect(maps.Values(o.places))
}

// open returns the place of a spec, for one more user. If the place is open with another look, as
// happens while a new configuration is being applied, open waits until it is closed.
func (o *Opener) open(spec Spec, opts *formats.Options) (*place, error) {
	key, look := spec.key(opts), spec.look()
	late := time.NewTimer(changeTime)
	defer late.Stop()
	for {
		x, use := o.use(key, look)
		switch use {
		case useFirst:
			x.open()
			return x, x.err
		case useToo:
			<-x.ready
			return x, x.err
		}
		select {
		case <-x.gone:
		case <-late.C:
			if x.look == look {
				return nil, &PathError{key, errors.New("closing it is taking long")}
			}
			return nil, &PathError{
				key,
				fmt.Errorf("it is already written as %s or with other rotation options: give each output its own file",
					x.look.format),
			}
		}
	}
}

// A use says what to do for a request to write to a place.
type use uint8

const (
	useFirst use = iota // open it
	useToo              // it is open, or another goroutine is opening it
	useLater            // wait until it is closed
)

func (o *Opener) use(key string, look look) (*place, use) {
	o.mu.Lock()
	defer o.mu.Unlock()
	x := o.places[key]
	switch {
	case x == nil:
		x = &place{key: key, look: look, opener: o, users: 1, ready: make(chan struct{}), gone: make(chan struct{})}
		if o.places == nil {
			o.places = map[string]*place{}
		}
		o.places[key] = x
		return x, useFirst
	case x.users > 0 && (x.look == look || IsStream(key)):
		x.users++
		return x, useToo
	}
	return x, useLater
}

// open opens the place. If that fails the place is removed.
func (p *place) open() {
	defer close(p.ready)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err = p.start(); p.err != nil {
		p.forget()
	}
}

func (p *place) start() error {
	if IsStream(p.key) {
		w := p.opener.Stdout
		if p.key == Stderr {
			w = p.opener.Stderr
		}
		stream := formats.NewStream(w, p.look.rotate.Buffered)
		p.out, p.name, p.release, p.bytes = stream, StreamName(p.key), stream.Close, stream.Bytes
		p.colored, p.screen = screen.Colored(w), screen.Of(w)
		return nil
	}
	if info, err := os.Stat(p.key); err == nil && !info.Mode().IsRegular() {
		return p.startDevice(info)
	}
	f, err := p.opener.Files.Open(p.key, p.look.rotate)
	if err != nil {
		return &PathError{p.key, err}
	}
	p.out, p.name, p.release, p.bytes, p.rotated = f, p.key, f.Close, f.Bytes, f
	return nil
}

// startDevice opens something that is not a regular file: it is written without rotation.
func (p *place) startDevice(info fs.FileInfo) error {
	if _, err := p.look.rotate.Place(p.key); err != nil {
		return &PathError{p.key, err}
	}
	var f *os.File
	if err := p.look.rotate.As.Do(func() (err error) {
		f, err = OpenDevice(p.key, info)
		return err
	}); err != nil {
		return err
	}
	stream := formats.NewStream(f, p.look.rotate.Buffered)
	p.out, p.name, p.bytes = stream, p.key, stream.Bytes
	if p.screen = screen.Of(f); p.screen != nil {
		p.colored = screen.Colored(f)
	}
	p.release = func() error { return errors.Join(stream.Close(), f.Close()) }
	return nil
}

// close closes the place when its last user does.
func (p *place) close() error {
	if !p.unuse() {
		return nil
	}
	defer p.forget()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.release()
}

// unuse reports whether that was the last user.
func (p *place) unuse() bool {
	p.opener.mu.Lock()
	defer p.opener.mu.Unlock()
	p.users--
	return p.users == 0
}

// forget frees the path.
func (p *place) forget() {
	p.opener.mu.Lock()
	defer p.opener.mu.Unlock()
	delete(p.opener.places, p.key)
	close(p.gone)
}
