//go:build !linux

package host

import "errors"

type lock struct{}

func (*lock) release() {}

var errLocked = errors.New("locked")

func (p *Process) exclude() (*lock, error) { return &lock{}, nil }

func (p *Process) attend() (*lock, error) { return &lock{}, nil }

func (p *Process) announce() (*lock, error) { return &lock{}, nil }

func (p *Process) announced() bool { return false }

func (p *Process) heldBy() *TargetError { return nil }

func (p *Process) isAbandoned() bool { return false }
