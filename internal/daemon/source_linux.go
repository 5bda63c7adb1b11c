package daemon

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// userOf asks the kernel for the user of this host who has a TCP socket at an address, connected to
// another one.
func userOf(at, to netip.AddrPort) (uid uint32, ok bool) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, socketRequest(at, to), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, false
	}
	// A header (struct nlmsghdr) and struct inet_diag_msg. The kernel has answered when sending ends.
	const uidAt, size = unix.NLMSG_HDRLEN + 64, unix.NLMSG_HDRLEN + 72
	b := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, b, unix.MSG_DONTWAIT)
	if err != nil || n < size || binary.NativeEndian.Uint16(b[4:]) != unix.SOCK_DIAG_BY_FAMILY {
		return 0, false
	}
	return binary.NativeEndian.Uint32(b[uidAt:]), true
}

// socketRequest returns a header (struct nlmsghdr) and a request for one socket (struct
// inet_diag_req_v2).
func socketRequest(at, to netip.AddrPort) []byte {
	const size = unix.NLMSG_HDRLEN + 56
	b := make([]byte, 0, size)
	b = binary.NativeEndian.AppendUint32(b, size)
	b = binary.NativeEndian.AppendUint16(b, unix.SOCK_DIAG_BY_FAMILY)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST)
	b = append(b, make([]byte, 8)...) // sequence number, port
	family := byte(unix.AF_INET)
	if at.Addr().Is6() {
		family = unix.AF_INET6
	}
	b = append(b, family, unix.IPPROTO_TCP, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, ^uint32(0)) // in any state
	b = binary.BigEndian.AppendUint16(b, at.Port())
	b = binary.BigEndian.AppendUint16(b, to.Port())
	for _, a := range []netip.Addr{at.Addr(), to.Addr()} {
		of := [16]byte{}
		copy(of[:], a.AsSlice())
		b = append(b, of[:]...)
	}
	b = append(b, make([]byte, 4)...)                      // any interface
	return binary.NativeEndian.AppendUint64(b, ^uint64(0)) // no cookie
}
