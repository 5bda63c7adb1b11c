//go:build !linux

package doctor

import "github.com/gclog/gclog/internal/host"

// Only Linux provides what follows.

func refine(h *host.Host, pid int, id string) (finer, text string) { return "", "" }

func (r *Report) namespaces(p *host.Process) {}

func (r *Report) describeMore(p *host.Process) {}

func capabilitiesText() string { return "" }

func (r *Report) machine(h *host.Host) {}
