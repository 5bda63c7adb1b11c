//go:build !linux

package doctor

import "github.com/gclog/gclog/session"

// Only Linux provides what follows.

func refine(h *session.Host, pid int, id string) (finer, text string) { return "", "" }

func (r *Report) namespaces(p *session.Process) {}

func (r *Report) describeMore(p *session.Process) {}

func capabilitiesText() string { return "" }

func (r *Report) machine(h *session.Host) {}
