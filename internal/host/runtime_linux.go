package host

import (
	"cmp"
	"context"
	"strings"
)

// Runtime reports which runtime the process uses. CoreCLR is a library with a known name, or part
// of the program, which then exports a symbol for it; so does a program made by the native
// compiler. Most programs use CoreCLR, so it is also the answer for a process that this host does
// not show.
func (p *Process) Runtime() Runtime {
	if p.peer != nil {
		return RuntimeCoreCLR
	}
	lib, hidden := p.Maps("/libcoreclr.so")
	if lib != "" {
		return RuntimeCoreCLR
	}
	own, err := p.program()
	switch {
	case own != RuntimeUnknown:
		return own
	case p.confirm(&request{Kind: hasFile, Path: p.tempDir, Name: p.debugPipe()}):
		return RuntimeCoreCLR
	case err != nil || hidden != nil:
		return RuntimeUnknown
	}
	return RuntimeNativeAOT // the runtime is in a library
}

// debugPipe returns the name of a pipe for debuggers, which only CoreCLR has. Its key is that of the
// socket: where a program is emulated, its start time is not what the kernel says.
func (p *Process) debugPipe() string {
	key := strings.TrimPrefix(cmp.Or(p.socket, p.socketName()), "dotnet-diagnostic-")
	return "clr-debug-pipe-" + strings.TrimSuffix(key, "-socket") + "-in"
}

// IsNativeAOT reports whether the program was made by .NET's native compiler.
func (p *Process) IsNativeAOT() bool {
	own, _ := p.program()
	return own == RuntimeNativeAOT
}

// program reports which runtime is part of the program that the process runs.
func (p *Process) program() (Runtime, error) {
	r, err := look(context.Background(), p,
		func() (reply, error) { return p.perform(context.Background(), &request{Kind: program}, true) }, keep)
	return r.Runtime, err
}
