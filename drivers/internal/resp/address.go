package resp

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"sixnines/driver"
)

// Address is a server's, with what a URL may say about logging in.
type Address struct {
	Network  string // "tcp" or "unix"
	Place    string // host and port, or the path of a socket
	Host     string // for the server's certificate; empty for a socket
	TLS      bool   // the scheme asks for it
	User     string
	Password string
	Database int // -1: the URL names none
}

// wanted is the end of all complaints about a URL.
const wanted = "want one such as redis://host:6379, rediss://user:password@host:6379/0 or unix:///path/to/redis.sock"

// ParseAddress reads redis://[user[:password]@]host[:port][/database], the same
// with rediss for TLS, unix://[user[:password]@]/path[?db=database], or a host
// and port alone. Its errors wrap driver.ErrOption and show no password.
func ParseAddress(text string) (Address, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "redis://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		// The error would repeat the URL and a password in it.
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return Address{}, fmt.Errorf("%w: the URL cannot be read: %w; %s", driver.ErrOption, err, wanted)
	}
	a := Address{Database: -1}
	if u.User != nil {
		a.User = u.User.Username()
		a.Password, _ = u.User.Password()
	}
	fail := func(why string) (Address, error) {
		return Address{}, fmt.Errorf("%w: %s in URL %s; %s", driver.ErrOption, why, u.Redacted(), wanted)
	}
	database := strings.Trim(u.Path, "/")
	switch u.Scheme {
	case "redis", "rediss":
		if strings.Contains(u.Host, ",") {
			return fail("several servers, of which a session uses one,")
		}
		if u.Hostname() == "" {
			return fail("no host")
		}
		port := u.Port()
		if port == "" {
			port = "6379"
		}
		a.Network, a.Host, a.Place = "tcp", u.Hostname(), net.JoinHostPort(u.Hostname(), port)
		a.TLS = u.Scheme == "rediss"
	case "unix":
		if u.Host != "" || len(u.Path) < 2 {
			return fail("no path (three slashes begin it)")
		}
		a.Network, a.Place, database = "unix", u.Path, ""
	default:
		return fail(fmt.Sprintf("scheme %q", u.Scheme))
	}
	for key, values := range u.Query() {
		if key != "db" || database != "" {
			return fail(fmt.Sprintf("a needless %q", key))
		}
		database = values[0]
	}
	if database != "" {
		n, err := strconv.Atoi(database)
		if err != nil || n < 0 {
			return fail(fmt.Sprintf("%q, which is no number of a database,", database))
		}
		a.Database = n
	}
	return a, nil
}

// String returns the address without user and password.
func (a Address) String() string {
	if a.Network == "unix" {
		return "unix://" + a.Place
	}
	if a.TLS {
		return "rediss://" + a.Place
	}
	return "redis://" + a.Place
}
