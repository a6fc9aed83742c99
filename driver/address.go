package driver

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// errReserved lists the escapes of characters that would end a login or a part of an address.
var errReserved = errors.New("in a login or a path write %40 for @, %2F for /, %3F for ?, %23 for #, %3A for : and %2C for a comma")

// errBareIPv6 is about an address whose port cannot be told from its last group.
var errBareIPv6 = errors.New("write an IPv6 address in brackets, such as [::1] or [::1]:4222")

// bareIPv6 reports whether the text has an IPv6 address for a host, with or without a port after it.
func bareIPv6(text string) bool {
	_, rest, _ := strings.Cut(text, "//")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	_, err := netip.ParseAddr(rest[strings.LastIndex(rest, "@")+1:])
	return err == nil && strings.Contains(rest, ":")
}

// ParseURL is [url.Parse] for addresses that may hold a password. Its errors quote no part
// of the text. It refuses an @ after the host: the login may contain a reserved character,
// and then its beginning would be taken for the host.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	var escape url.EscapeError
	switch {
	case errors.As(err, &escape):
		return nil, errors.New("a % is not followed by two hexadecimal digits; write %25 for it")
	case err != nil && bareIPv6(text):
		return nil, errBareIPv6
	case err != nil && strings.Contains(err.Error(), "invalid port"):
		return nil, fmt.Errorf("the port is no number; %w", errReserved)
	case err != nil && strings.Contains(text, "@"):
		return nil, errReserved
	case err != nil:
		return nil, errors.New("it is no address")
	}
	if host := u.Host; !strings.HasPrefix(host, "[") && strings.Count(host, ":") > 1 {
		return nil, errBareIPv6
	}
	_, rest, _ := strings.Cut(text, "//")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 && strings.Contains(rest[i:], "@") {
		return nil, errReserved
	}
	return u, nil
}
