package host_test

import (
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/ipc"
	"github.com/gclog/gclog/session"
)

// infoOf returns the answer to ProcessInfo3 of a runtime.
func infoOf(commandLine, version string) []byte {
	b := make([]byte, 4+8+16)
	for _, s := range []string{commandLine, "Linux", "x64", "app", version, "linux-x64"} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)+1))
		for _, unit := range utf16.Encode([]rune(s + "\x00")) {
			b = binary.LittleEndian.AppendUint16(b, unit)
		}
	}
	return ipc.Answer(b)
}

// TestPermit: no session is requested that would kill the process. What happens to which was seen with
// real runtimes: docs/protocol.md.
func TestPermit(t *testing.T) {
	const (
		none    = 0x1
		walk    = 0x100000
		collect = 0x800000
		gcdump  = 0x1980001
		all     = 1<<64 - 1
	)
	workstation, server := []string{".NET EventPipe", ".NET Finalizer"}, []string{".NET EventPipe", ".NET Finalizer", ".NET Server GC"}
	for _, tc := range []struct {
		what     string
		coreCLR  bool
		threads  []string
		version  string // "" for a runtime that does not know ProcessInfo
		keywords []uint64
		refused  string // "": it is not
		kind     string
	}{
		{"CoreCLR", true, server, "10.0.14", []uint64{walk, collect, gcdump, all}, "", ""},
		{"CoreCLR 3.1", true, workstation, "", []uint64{walk, collect, gcdump, all}, "", ""},
		{"NativeAOT 11", false, server, "11.0.0", []uint64{none, walk, collect, gcdump, all}, "", ""},
		{"NativeAOT 10", false, workstation, "10.0.12", []uint64{none, walk, collect, gcdump, all}, "", ""},
		{"NativeAOT 10 with server GC", false, server, "10.0.12", []uint64{none, collect}, "", ""},
		{"NativeAOT 10 with server GC", false, server, "10.0.12", []uint64{walk, walk | 1, gcdump, all}, "is a NativeAOT program of .NET 10 with server GC", "heap-walk-crash"},
		{"NativeAOT 10 whose threads are hidden", false, []string{".NET Finalize"}, "10.0.12", []uint64{walk, gcdump, all}, "may be a NativeAOT program of .NET 10 with server GC", "heap-walk-crash"},
		{"NativeAOT 9", false, workstation, "9.0.22", []uint64{walk, collect, gcdump, all}, "of .NET 9.0.22: its runtime neither collects nor walks", "native-aot-old"},
		{"NativeAOT 8", false, nil, "8.0.33", []uint64{walk, collect, gcdump, all}, "of .NET 8.0.33: its runtime neither collects nor walks", "native-aot-old"},
		{"NativeAOT 8", false, nil, "8.0.33", []uint64{none}, "", ""},
		{"NativeAOT of unknown version", false, nil, "", []uint64{none}, "", ""},
	} {
		s := spec{Sockets: []string{exact}, Threads: tc.threads}
		if tc.coreCLR {
			s.Map = libcoreclr(t, tc.version)
		}
		target := find(t, run(t, s))
		for _, keywords := range tc.keywords {
			r := ipc.Serve(t, func(conn net.Conn, request []byte) {
				switch {
				case request[16] == 2:
					_, _ = conn.Write(ipc.Answer(make([]byte, 8)))
				case tc.version == "":
					_, _ = conn.Write(ipc.Refusal(ipc.UnknownCommand))
				default:
					_, _ = conn.Write(infoOf("/app/app", tc.version))
				}
			})
			target.Client = session.Client{Dial: r.Dial}
			cfg := session.Config{BufferMB: 1, Providers: []session.Provider{
				{Name: "My.Provider", Keywords: all}, {Name: "microsoft-windows-DotNETRuntime", Keywords: keywords, Level: 4},
			}}
			for name, start := range map[string]func() (*session.Stream, error){
				"StartTracing": func() (*session.Stream, error) { return target.StartTracing(t.Context(), cfg) },
				"StartFirst":   func() (*session.Stream, error) { return target.StartFirst(t.Context(), cfg) },
			} {
				stream, err := start()
				switch {
				case tc.refused != "":
					refused(t, err, host.CauseHarm, tc.refused)
					if e, ok := errors.AsType[*host.TargetError](err); ok && e.Kind != tc.kind {
						t.Errorf("%s: kind %s, want %s", tc.what, e.Kind, tc.kind)
					}
				case err != nil:
					t.Errorf("%s, keywords %#x, %s: %v", tc.what, keywords, name, err)
				default:
					_ = stream.Close()
				}
			}
			requested := strings.Contains(strings.Join(r.Commands(), " "), "02")
			if requested == (tc.refused != "") {
				t.Errorf("%s, keywords %#x: requests %v", tc.what, keywords, r.Commands())
			}
			if tc.refused == "" {
				continue
			}
			cfg.Unsafe = true
			stream, err := target.StartTracing(t.Context(), cfg)
			if err != nil {
				t.Errorf("%s, keywords %#x, in spite of all: %v", tc.what, keywords, err)
				continue
			}
			_ = stream.Close()
		}
	}
}

// TestPermitHidden: of a process that connects to a port from a pid namespace that this host does not
// show only its answers are known. CoreCLR names the assembly that it runs.
func TestPermitHidden(t *testing.T) {
	for _, tc := range []struct {
		commandLine, version string
		permitted            bool
	}{
		{"/app/app", "10.0.12", false},
		{"/app/app /app/app.dll", "10.0.14", true},
		{"/app/app", "9.0.22", true}, // which at most ignores it
		{"/app/app", "11.0.0", true},
	} {
		p, path := listenPort(t)
		ipc.Announce(t, path, ipc.First, func(conn net.Conn, _ []byte) (keep bool) {
			_, _ = conn.Write(infoOf(tc.commandLine, tc.version))
			return false
		})
		peer := next(t, p)
		peer.PID = 0
		target := new(host.Host).TargetOf(peer)
		cfg := &session.Config{BufferMB: 1, Providers: []session.Provider{{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 0x1980001, Level: 5}}}
		err := target.Permit(t.Context(), cfg)
		switch {
		case tc.permitted && err != nil:
			t.Errorf("%+v: %v", tc, err)
		case !tc.permitted:
			refused(t, err, host.CauseHarm, "may be a NativeAOT program of .NET 10 with server GC")
		}
	}
}
