//go:build !linux

package host

type lock struct{}

func (*lock) release() {}

const holdFile, announceFile = "", ""

func (p *Process) flock(string, bool) (*lock, error) { return &lock{}, nil }

func (p *Process) announced() bool { return false }

func (p *Process) heldBy() *TargetError { return nil }

func (p *Process) isAbandoned() bool { return false }
