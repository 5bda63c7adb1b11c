package daemon

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// passwords checks the passwords of /metrics. A check with bcrypt takes as long as 50 scrapes, and
// anyone may send wrong passwords all the time, so:
//
//   - A password that was right is not checked again, and once that of each user is known, any other
//     one is wrong.
//   - One password is checked at a time, and wrong ones take at most a quarter of a processor. Clients
//     that have sent no wrong password are not subject to that limit: their first one is next.
//   - The clients of one source, such as those behind a proxy, cannot be distinguished. But who guesses
//     tries each password once, and who knows it tries it again: a password that was sent before is
//     checked first.
type passwords struct {
	key   [sha256.Size]byte // of the digests: memory contains no password that could be guessed offline
	check func(hash, password []byte) error

	mu      sync.Mutex
	users   map[string]string // hashes
	right   map[string]digest // of users
	tried   []uint64          // marks of digests, by their first bytes: what was sent lately
	waiting map[digest]*guess
	sources map[source]*guesser
	order   []*guesser    // those with guesses that wait, the next one first
	next    time.Time     // when a guesser's next password is checked
	more    chan struct{} // has a value when something was added to order
	running bool          // a goroutine checks passwords
}

type digest [sha256.Size]byte

// A guesser is a source of passwords that wait to be checked, or were wrong.
type guesser struct {
	again, first []*guess // that were sent before, and those that were not
	failed       time.Time
}

// A guess is a password that waits to be checked.
type guess struct {
	of                   *guesser
	key                  digest
	user, hash, password string
	requests             int
	again                bool
	verdict              verdict
	done                 chan struct{} // closed when there is a verdict
}

// A verdict is the answer to a password.
type verdict uint8

const (
	wrong verdict = iota
	right
	unchecked // too many others wait
)

const (
	// noUser is the hash of a password that nobody has. Checking it for an unknown user takes as long as
	// checking that of a known one.
	noUser = "$2a$10$HfunJNok4WE4dwy2O0CLiu8JPiDszu83w0B5PkB.ZhFpBz8WlqXm."
	// passwordShare is the share of time that checking wrong passwords may take, as a divisor.
	passwordShare = 4
	// wrongDelay is how long the answer to a wrong password takes, so that trying the next one is not
	// cheap, whether it was checked or not.
	wrongDelay = 200 * time.Millisecond
	// guessesMost is how many passwords of a source wait, of each kind.
	guessesMost = 16
	// guessersMost is how many sources are distinguished.
	guessersMost = 1024
	// guesserTime is how long a source counts as guessing after a wrong password.
	guesserTime = 10 * time.Minute
	// triedSize is how many passwords are remembered as sent.
	triedSize = 1 << 16
	// bcryptBytes is how much of a password counts.
	bcryptBytes = 72
)

func newPasswords() *passwords {
	p := &passwords{
		check:   bcrypt.CompareHashAndPassword,
		right:   map[string]digest{},
		waiting: map[digest]*guess{},
		sources: map[source]*guesser{},
		more:    make(chan struct{}, 1),
	}
	_, _ = rand.Read(p.key[:]) // never fails
	return p
}

// use has it check the passwords of these users, by name with their hashes. What was right stays so
// for those whose hash is the same.
func (p *passwords) use(users map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if maps.Equal(p.users, users) {
		return
	}
	for user := range p.right {
		if hash, ok := users[user]; !ok || hash != p.users[user] {
			delete(p.right, user)
		}
	}
	p.users, p.tried = users, nil // which may be right now
}

// judge returns whether the password is that of the user. ctx is that of the request: who has gone
// does not wait for a check.
func (p *passwords) judge(ctx context.Context, from source, user, password string) verdict {
	v := p.await(ctx, from, user, password[:min(len(password), bcryptBytes)])
	if v != right {
		select {
		case <-time.After(wrongDelay):
		case <-ctx.Done():
		}
	}
	return v
}

func (p *passwords) await(ctx context.Context, from source, user, password string) verdict {
	g, v := p.guess(from, user, password)
	if g == nil {
		return v
	}
	select {
	case <-g.done:
		return g.verdict
	case <-ctx.Done():
		p.leave(g)
		return unchecked
	}
}

// guess returns a guess to wait for, or what is already known about the password.
func (p *passwords) guess(from source, user, password string) (*guess, verdict) {
	key := p.digest(user, password)
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.right[user]; ok && hmac.Equal(known[:], key[:]) {
		return nil, right
	}
	if p.tried == nil {
		p.tried = make([]uint64, triedSize)
	}
	place, sent, failed := key.marks()
	again := p.tried[place] == sent
	if len(p.right) == len(p.users) || p.tried[place] == failed {
		return nil, wrong
	}
	p.tried[place] = sent
	g := p.waiting[key]
	if g == nil {
		hash, known := p.users[user]
		if !known {
			hash = noUser
		}
		g = &guess{
			of: p.guesser(from), key: key, user: user, hash: hash, password: password, again: again,
			done: make(chan struct{}),
		}
		p.add(g)
	}
	g.requests++
	return g, unchecked
}

// leave forgets a guess that nobody waits for any more. One that was sent before is checked all the
// same: its sender will be back.
func (p *passwords) leave(g *guess) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.requests--; g.requests == 0 && !g.again {
		p.remove(g, unchecked)
	}
}

// guesser returns the guesser at a source.
func (p *passwords) guesser(from source) *guesser {
	of := p.sources[from]
	if of == nil {
		if len(p.sources) >= guessersMost {
			maps.DeleteFunc(p.sources, func(_ source, x *guesser) bool {
				return !slices.Contains(p.order, x) && time.Since(x.failed) > guesserTime
			})
		}
		if len(p.sources) >= guessersMost {
			from = source{} // what all others have in common
			of = p.sources[from]
		}
	}
	if of == nil {
		of = &guesser{}
		p.sources[from] = of
	}
	return of
}

// add lets a guess wait. If too many from its source do, a random one of them does no longer: so that
// no order of guesses keeps another one out forever.
func (p *passwords) add(g *guess) {
	list := g.list()
	if len(*list) >= guessesMost {
		p.remove((*list)[mathrand.IntN(len(*list))], unchecked)
	}
	if !slices.Contains(p.order, g.of) {
		p.order = append(p.order, g.of)
	}
	*list = append(*list, g)
	p.waiting[g.key] = g
	if !p.running {
		p.running = true
		go p.run()
	}
	select {
	case p.more <- struct{}{}:
	default:
	}
}

// list returns the list that a guess is in.
func (g *guess) list() *[]*guess {
	if g.again {
		return &g.of.again
	}
	return &g.of.first
}

// remove ends the waiting of a guess, if it still does.
func (p *passwords) remove(g *guess, v verdict) {
	if p.waiting[g.key] != g {
		return
	}
	delete(p.waiting, g.key)
	list := g.list()
	*list = slices.DeleteFunc(*list, func(x *guess) bool { return x == g })
	if len(g.of.again)+len(g.of.first) == 0 {
		p.order = slices.DeleteFunc(p.order, func(x *guesser) bool { return x == g.of })
	}
	g.verdict = v
	close(g.done)
}

// run checks guesses until none waits.
func (p *passwords) run() {
	for {
		g, wait := p.pick()
		if g == nil && wait == 0 {
			return
		}
		if g == nil {
			select {
			case <-time.After(wait):
			case <-p.more:
			}
			continue
		}
		began := time.Now()
		err := p.check([]byte(g.hash), []byte(g.password))
		p.checked(g, err == nil, time.Since(began))
	}
}

// pick returns the guess to check next, or how long to wait for one; 0: none waits, and the caller
// ends.
func (p *passwords) pick() (*guess, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	i := slices.IndexFunc(p.order, func(x *guesser) bool {
		return !now.Before(p.next) || x.failed.IsZero() || now.Sub(x.failed) > guesserTime
	})
	switch {
	case len(p.order) == 0:
		p.running = false
		return nil, 0
	case i < 0:
		return nil, p.next.Sub(now)
	}
	of := p.order[i]
	p.order = slices.Delete(p.order, i, i+1)
	g := slices.Concat(of.again, of.first)[0]
	*g.list() = (*g.list())[1:]
	if len(of.again)+len(of.first) > 0 {
		p.order = append(p.order, of) // after the others
	}
	return g, 0
}

// checked records the result of a check that took some time.
func (p *passwords) checked(g *guess, ok bool, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	hash, known := p.users[g.user]
	if ok && known && hash == g.hash { // otherwise the users have changed meanwhile
		p.right[g.user] = g.key
		p.remove(g, right)
		if len(p.right) == len(p.users) { // then no other one can be
			for _, other := range p.waiting {
				p.remove(other, wrong)
			}
		}
		return
	}
	if !ok && p.tried != nil && (hash == g.hash || !known) {
		place, _, failed := g.key.marks()
		p.tried[place] = failed
	}
	g.of.failed = time.Now()
	p.next = g.of.failed.Add((passwordShare - 1) * took)
	p.remove(g, wrong)
}

// digest returns what stands for a user and a password.
func (p *passwords) digest(user, password string) (d digest) {
	mac := hmac.New(sha256.New, p.key[:])
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(user))))
	mac.Write([]byte(user))
	mac.Write([]byte(password))
	mac.Sum(d[:0])
	return d
}

// marks returns the place of a digest in the table of passwords that were tried, and the marks of a
// password that was sent, and of a wrong one, there.
func (d digest) marks() (place int, sent, failed uint64) {
	mark := binary.BigEndian.Uint64(d[8:])
	return int(binary.BigEndian.Uint64(d[:]) % triedSize), mark &^ 1, mark | 1
}
