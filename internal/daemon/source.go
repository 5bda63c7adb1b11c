package daemon

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
)

// A source is where connections come from: what is known about who is at the other end. No source
// takes the place of others.
type source struct {
	address netip.Prefix // of IPv6 the /64, in which anyone may choose addresses
	user    int64        // who has the other end on this host, plus one; 0: unknown
}

// sourceOf returns the source of a connection between two addresses.
func sourceOf(remote, local net.Addr) (s source) {
	theirs, ours := addressOf(remote), addressOf(local)
	if !theirs.IsValid() {
		return s
	}
	bits := theirs.Addr().BitLen()
	if theirs.Addr().Is6() {
		bits = 64
	}
	s.address, _ = theirs.Addr().WithZone("").Prefix(bits) // which it has
	if theirs.Addr().IsLoopback() || theirs.Addr() == ours.Addr() {
		if uid, ok := userOf(theirs, ours); ok {
			s.user = int64(uid) + 1
		}
	}
	return s
}

// addressOf returns a TCP address, that of IPv4 as such.
func addressOf(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	at := tcp.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// A client is a connection of a known source.
type client struct {
	net.Conn
	source source
}

// sourceOfConn returns the source of an accepted connection; that of sockets is always the same.
func sourceOfConn(c net.Conn) source {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if c, ok := c.(*client); ok {
		return c.source
	}
	return source{}
}

// sourceKey is the key of a source in the context of a request.
type sourceKey struct{}

func withSource(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, sourceKey{}, sourceOfConn(c))
}

// sourceIn returns the source of a request.
func sourceIn(ctx context.Context) source {
	s, _ := ctx.Value(sourceKey{}).(source)
	return s
}
