package mesh

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sixnines/driver"
)

// Address is where the sockets of a run bind: the first at the address itself,
// each further one next to it.
type Address struct {
	Scheme string // "tcp", "ipc", "inproc", …
	Host   string // of a scheme over TCP: an IP address; "0.0.0.0" or "::" for all
	Port   int    // of the first socket; the others have those that follow. 0: free ones
	Path   string // of ipc: what the files' names begin with. Empty: a directory is made
}

// Parse reads a URL such as tcp://127.0.0.1:5555, ipc:///run/bench/s or
// inproc://. An empty one means free ports of loopback. Without a scheme it is
// TCP's. The error wraps driver.ErrOption, or driver.ErrNotConnected for a host
// that has no address.
func Parse(raw string, schemes ...string) (Address, error) {
	if raw == "" {
		raw = "tcp://127.0.0.1:0"
	}
	if strings.Contains(raw, ",") {
		return Address{}, fmt.Errorf("URL %q: %w: give one address; the sockets of a run take it and those that follow", raw, driver.ErrOption)
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		scheme, rest = "tcp", raw
	}
	if !slices.Contains(schemes, scheme) {
		return Address{}, fmt.Errorf("URL %q: %w: scheme %q: want %s", raw, driver.ErrOption, scheme, strings.Join(schemes, ", "))
	}
	a := Address{Scheme: scheme}
	switch scheme {
	case "inproc":
		return a, nil
	case "ipc":
		a.Path = rest
		if len(a.Path) > longestPath {
			return Address{}, fmt.Errorf("URL %q: %w: the path has %d bytes; a socket's may have %d, number and all", raw, driver.ErrOption, len(a.Path), longestPath)
		}
		return a, nil
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		host, port = rest, "0"
		if strings.ContainsAny(rest, ":/") {
			return Address{}, fmt.Errorf("URL %q: %w: want one such as %s://127.0.0.1:5555", raw, driver.ErrOption, scheme)
		}
	}
	if port == "*" {
		port = "0"
	}
	if a.Port, err = strconv.Atoi(port); err != nil || a.Port < 0 || a.Port > 65535 {
		return Address{}, fmt.Errorf("URL %q: %w: the port %q is no number from 0 (free ports) to 65535", raw, driver.ErrOption, port)
	}
	switch host {
	case "":
		host = "127.0.0.1"
	case "*":
		host = "0.0.0.0"
	}
	// Libraries differ in what names they bind to; a number means the same to all.
	ip, err := net.ResolveIPAddr("ip", host)
	if err != nil {
		return Address{}, fmt.Errorf("URL %q: %w: %w", raw, driver.ErrNotConnected, err)
	}
	a.Host = ip.String()
	return a, nil
}

// longestPath leaves room for the number of a socket in the 107 bytes that a
// Unix socket's name has.
const longestPath = 107 - len(".65535")

// TCP reports whether the scheme is one over TCP.
func (a Address) TCP() bool { return a.Host != "" }

// IPv6 reports whether the host is an address of IPv6.
func (a Address) IPv6() bool { return strings.Contains(a.Host, ":") }

// endpoint is what the socket number i binds to.
func (a Address) endpoint(i int, room string) (string, error) {
	switch {
	case a.Scheme == "inproc":
		return fmt.Sprintf("inproc://sixnines.%s.%d", room, i), nil
	case a.Scheme == "ipc":
		return fmt.Sprintf("ipc://%s.%d", a.Path, i), nil
	case a.Port == 0:
		return a.Scheme + "://" + net.JoinHostPort(a.Host, "0"), nil
	case a.Port+i > 65535:
		return "", fmt.Errorf("%w: socket %d of the run would have port %d; begin with a lower one", driver.ErrOption, i, a.Port+i)
	}
	return a.Scheme + "://" + net.JoinHostPort(a.Host, strconv.Itoa(a.Port+i)), nil
}

// reachable is where one connects to for what is bound at endpoint: all of a
// machine's addresses are no address.
func (a Address) reachable(endpoint string) string {
	for _, all := range []struct{ wild, loopback string }{{"://0.0.0.0:", "://127.0.0.1:"}, {"://[::]:", "://[::1]:"}} {
		endpoint = strings.Replace(endpoint, all.wild, all.loopback, 1)
	}
	return endpoint
}

// check tries whether the first socket could bind. Libraries tell of a port that
// is taken late, or take over another's file.
func (a Address) check() error {
	var l net.Listener
	var err error
	switch {
	case a.TCP():
		l, err = net.Listen("tcp", net.JoinHostPort(a.Host, strconv.Itoa(a.Port)))
	case a.Scheme == "ipc":
		first := a.Path + ".0"
		if c, dialErr := net.Dial("unix", first); dialErr == nil {
			c.Close()
			err = syscall.EADDRINUSE
		} else if errors.Is(dialErr, syscall.ECONNREFUSED) {
			os.Remove(first) // left behind by a killed process: no socket listens
		}
		if err == nil {
			l, err = net.Listen("unix", first)
		}
	default:
		return nil
	}
	if err != nil {
		return a.bindError(err)
	}
	return l.Close()
}

// bindError gives an error of binding its class and a cause that people
// understand.
func (a Address) bindError(err error) error {
	class, cause := driver.ErrNotConnected, ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		cause = "it is taken: something else listens there; choose another, or port 0 for free ones"
		if a.Scheme == "ipc" {
			cause = "it is taken: something else listens there; choose another path"
		}
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.ENODEV):
		cause = "this machine does not have that address; the sockets of both sides are on this machine"
	case errors.Is(err, fs.ErrPermission):
		class, cause = driver.ErrUnauthorized, "this user may not listen there"
	case errors.Is(err, fs.ErrNotExist):
		cause = "the directory does not exist"
	default:
		return fmt.Errorf("bind at %s: %w: %w", a, class, err)
	}
	return fmt.Errorf("bind at %s: %w: %s", a, class, cause)
}

// String returns the address as a URL.
func (a Address) String() string {
	switch {
	case a.TCP():
		return a.Scheme + "://" + net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
	case a.Scheme == "ipc":
		return "ipc://" + filepath.Clean(a.Path)
	}
	return a.Scheme + "://"
}
