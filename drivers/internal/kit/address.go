package kit

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"sixnines/driver"
)

// Scheme is one that a driver's URLs may have.
type Scheme struct {
	Name string
	Port string // of URLs without one
	TLS  bool
	// Socket says that URLs have the path of a socket of this machine, and no host.
	Socket bool
}

// Server is one address of a broker.
type Server struct {
	Address string // host and port, or the path of a socket
	Host    string
	TLS     bool
	Scheme  string // of its URL
}

// Network returns the name of what the server is reached by, for driver.Target.Dial.
func (s Server) Network() string {
	if strings.HasPrefix(s.Address, "/") {
		return "unix"
	}
	return "tcp"
}

// Address is what a target's URL says.
type Address struct {
	Servers []Server      // at least one
	User    *url.Userinfo // of the last server that names one; nil: none
	Path    string        // of the last server that has one, without its first slash
	Query   url.Values    // of the last server that has one
}

// ParseURL splits the target's URL into its servers, which commas separate. Without a
// scheme a server has that of the one before it, and the first server the first of schemes,
// which errors give as an example; they are of class driver.ErrOption and repeat no
// password.
func (e *Errors) ParseURL(target string, schemes ...Scheme) (Address, error) {
	var a Address
	example := schemes[0].Name + "://host:" + schemes[0].Port
	before := schemes[0].Name
	for text := range strings.SplitSeq(target, ",") {
		text = strings.TrimSpace(text)
		if head, _, _ := strings.Cut(text, "?"); !strings.Contains(head, "://") {
			text = before + "://" + text
		}
		u, err := driver.ParseURL(text)
		if err != nil {
			return a, fmt.Errorf("%s: %w: the URL cannot be read: %w; want one such as %s", e.Driver, driver.ErrOption, err, example)
		}
		i := slices.IndexFunc(schemes, func(s Scheme) bool { return s.Name == u.Scheme })
		switch { // errors repeat no part of the URL in which a password may stand by mistake
		case i < 0:
			return a, fmt.Errorf("%s: %w: scheme %q of the URL: want %s", e.Driver, driver.ErrOption, u.Scheme, alternatives(Names(schemes...)))
		case schemes[i].Socket && (u.Host != "" || len(u.Path) < 2):
			return a, fmt.Errorf("%s: %w: no path in the URL; want one such as %s:///path", e.Driver, driver.ErrOption, u.Scheme)
		case !schemes[i].Socket && u.Hostname() == "":
			return a, fmt.Errorf("%s: %w: no host in the URL; want one such as %s", e.Driver, driver.ErrOption, example)
		}
		if !schemes[i].Socket {
			before = u.Scheme
		}
		port := u.Port()
		if port == "" {
			port = schemes[i].Port
		}
		a.Servers = append(a.Servers, Server{Address: net.JoinHostPort(u.Hostname(), port), Host: u.Hostname(), TLS: schemes[i].TLS, Scheme: u.Scheme})
		if schemes[i].Socket {
			a.Servers[len(a.Servers)-1].Address, u.Path = u.Path, ""
		}
		if u.User != nil {
			a.User = u.User
		}
		if path := strings.TrimPrefix(u.Path, "/"); path != "" {
			a.Path = path
		}
		if u.RawQuery != "" {
			a.Query = u.Query()
		}
	}
	return a, nil
}

// Names returns the names of schemes, for driver.Entry.
func Names(schemes ...Scheme) []string {
	var all []string
	for _, s := range schemes {
		all = append(all, s.Name)
	}
	return all
}

// alternatives lists names in words.
func alternatives(all []string) string {
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// From returns all servers, beginning with the n-th; n counts on from the first where
// there are fewer. Connections that begin with one after the other use a cluster
// evenly, and always alike.
func (a *Address) From(n int) []Server {
	n %= len(a.Servers)
	return slices.Concat(a.Servers[n:], a.Servers[:n])
}

// String returns the servers' addresses.
func (a *Address) String() string {
	all := make([]string, len(a.Servers))
	for i, s := range a.Servers {
		all[i] = s.Address
	}
	return strings.Join(all, ",")
}
