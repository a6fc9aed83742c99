package rabbit

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"sixnines/driver"
)

// Server is one address of a broker.
type Server struct {
	Address, Host string
	TLS           bool
}

// Login is who connects, and to which virtual host.
type Login struct {
	VHost          string
	User, Password string
	External       bool // by the client's certificate instead
}

// Broker is where a target is, and how to log in there. It does not change, and
// is safe for concurrent use.
type Broker struct {
	Login Login
	TLS   *tls.Config // nil: none

	protocol *Protocol
	servers  []Server // at least one
	timeout  time.Duration
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// NewBroker reads the target's URL. What the login leaves empty it takes from
// there, or else as the broker does when it is new: guest, and the virtual host
// "/". A server that has not accepted a connection and a login within the
// timeout counts as unreachable.
func NewBroker(p *Protocol, t driver.Target, l Login, timeout time.Duration) (*Broker, error) {
	servers, user, vhost, err := p.parse(t.URL)
	if err != nil {
		return nil, err
	}
	b := &Broker{Login: l, protocol: p, servers: servers, timeout: timeout, dial: t.Dial}
	if l.Password != "" && l.User == "" {
		return nil, p.OptionError("password", "it needs user beside it")
	}
	if t.TLS != nil || servers[0].TLS {
		if b.TLS, err = t.TLS.Config(""); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Driver, err)
		}
		for i := range b.servers {
			b.servers[i].TLS = true
		}
	}
	switch {
	case l.User != "":
	case user != nil:
		b.Login.User = user.Username()
		b.Login.Password, _ = user.Password()
	default:
		b.Login.User, b.Login.Password = "guest", "guest"
	}
	if l.VHost == "" {
		if b.Login.VHost = vhost; vhost == "" {
			b.Login.VHost = "/"
		}
	}
	if l.External && (b.TLS == nil || len(b.TLS.Certificates) == 0) {
		return nil, p.OptionError("login", "external wants tls.cert and tls.key")
	}
	if b.dial == nil {
		b.dial = new(net.Dialer).DialContext
	}
	return b, nil
}

// parse splits a target's URL into servers, and returns user, password and
// virtual host where it has them.
func (p *Protocol) parse(target string) (servers []Server, user *url.Userinfo, vhost string, err error) {
	for text := range strings.SplitSeq(target, ",") {
		text = strings.TrimSpace(text)
		if !strings.Contains(text, "://") {
			text = p.Plain.Name + "://" + text
		}
		u, err := url.Parse(text)
		if err != nil {
			// The error would repeat the URL and a password in it.
			var parse *url.Error
			if errors.As(err, &parse) {
				err = parse.Err
			}
			return nil, nil, "", fmt.Errorf("%s: %w: the URL cannot be read: %w; want one such as %s", p.Driver, driver.ErrOption, err, p.example())
		}
		s := Server{Host: u.Hostname()}
		scheme := p.Plain
		switch u.Scheme {
		case p.Plain.Name:
		case p.Encrypted.Name:
			scheme, s.TLS = p.Encrypted, true
		default:
			return nil, nil, "", fmt.Errorf("%s: %w: scheme %q: want %s or %s", p.Driver, driver.ErrOption, u.Scheme, p.Plain.Name, p.Encrypted.Name)
		}
		if s.Host == "" {
			return nil, nil, "", fmt.Errorf("%s: %w: no host in URL %q; want one such as %s", p.Driver, driver.ErrOption, u.Redacted(), p.example())
		}
		port := u.Port()
		if port == "" {
			port = scheme.Port
		}
		s.Address = net.JoinHostPort(s.Host, port)
		servers = append(servers, s)
		if u.User != nil {
			user = u.User
		}
		if path := strings.TrimPrefix(u.Path, "/"); path != "" {
			vhost = path
		}
	}
	return servers, user, vhost, nil
}

func (p *Protocol) example() string { return p.Plain.Name + "://host:" + p.Plain.Port }

// From returns all servers, beginning with the n-th or, where there are not as
// many, counting on from the first. Links that begin with one after the other use
// a cluster evenly and always alike.
func (b *Broker) From(n int) []Server {
	n %= len(b.servers)
	return slices.Concat(b.servers[n:], b.servers[:n])
}

// Clustered reports whether there are several servers.
func (b *Broker) Clustered() bool { return len(b.servers) > 1 }

// Preferring returns the servers with one at the address before them, reached as
// they are.
func Preferring(address string, servers []Server) []Server {
	first := servers[0]
	first.Address = address
	first.Host, _, _ = net.SplitHostPort(address)
	return slices.Insert(servers, 0, first)
}

// Transport says what connections go over, as one with the state shows.
func (b *Broker) Transport(state tls.ConnectionState) string {
	if b.TLS == nil {
		return "tcp"
	}
	return "tcp, " + strings.ToLower(tls.VersionName(state.Version))
}
