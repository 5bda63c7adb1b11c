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
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/screen"
)

// What the processes share: each path is opened once, for all that write to it.

// A place is a file, a pipe or standard output. Several Writers can share it, one
// for each process. Whoever has got it from open must close it.
type place struct {
	key    string
	look   look
	opener *Opener
	users  int           // under the lock of opener; 0: it is being closed
	ready  chan struct{} // closed when it is open, or cannot be: see err
	err    error
	gone   chan struct{} // closed when it is closed, and its path free

	mu      sync.Mutex // of what follows; held while a disk works, which may hang
	out     formats.Output
	name    string // for people
	release func() error
	bytes   func() int64
	rotated *formats.RotatingFile // nil: not a regular file
	colored bool
	screen  func() (width, height int) // nil: not a terminal

	asking sync.Mutex
	asked  work
	busy   bool // somebody does what is asked
}

// FilesOpen is how many files one that is written has open: it, and itself again for its
// lock.
const FilesOpen = 2

// A look is what all records of a file have in common: no file has two.
type look struct {
	format string
	rotate formats.RotateOptions
}

func (s *Spec) look() look { return look{s.Format.Name, s.Rotate} }

// work is what can be asked for, with the greater in place of the smaller.
type work uint8

const (
	nothing work = iota
	follow
	rotate
)

// Write implements formats.Output. Several goroutines can write to a place.
func (p *place) Write(head formats.Head, group []byte, hold bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(head, group, hold)
}

func (p *place) size() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes()
}

// file calls f with the file of the place, if it is one and open.
func (p *place) file(f func(*formats.RotatingFile)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rotated != nil {
		f(p.rotated)
	}
}

// ask has something done soon. However often it is asked, one goroutine does it: on a
// disk that hangs they would grow more and more.
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
		case rotate:
			p.file((*formats.RotatingFile).Reopen)
		case follow:
			p.file((*formats.RotatingFile).Follow)
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
	Files  formats.Files
	Stdout io.Writer
	Stderr io.Writer
	Tell   func(string) // is told, for people, what goes wrong without ending anything: an output fails, and works again

	// mu is never held while a disk works: one that hangs must not keep others from
	// opening and closing theirs.
	mu     sync.Mutex
	places map[string]*place // by path; also those that are being opened or closed
}

// changeTime is how long others may take to close a file that is to look otherwise.
const changeTime = 3 * time.Second

// Rotate has all files begin anew, soon.
func (o *Opener) Rotate() { o.ask(rotate) }

// Follow has noticed, soon, what others have done with the files.
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

// open returns the place of a spec, for one more user. One that is open and looks
// otherwise, as happens while a new configuration is being followed, is waited for.
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
				return nil, &PathError{key, errors.New("closing it takes long")}
			}
			return nil, &PathError{key, fmt.Errorf("others write it as %s, or with another rotation: give each its own file", x.look.format)}
		}
	}
}

// A use is what becomes of a wish to write to a place.
type use uint8

const (
	useFirst use = iota // it must be opened
	useToo              // it is open, or somebody opens it
	useLater            // when it is gone
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

// open opens what the place is for. When that fails there is no place.
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

// startDevice opens what is no regular file: it is written to plainly.
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
	if opened, err := f.Stat(); p.look.rotate.NoLinks && (err != nil || !os.SameFile(info, opened)) {
		_ = f.Close()
		return &PathError{p.key, errors.Join(err, errors.New("it was replaced while it was opened"))}
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

// forget lets others have the path.
func (p *place) forget() {
	p.opener.mu.Lock()
	defer p.opener.mu.Unlock()
	delete(p.opener.places, p.key)
	close(p.gone)
}
