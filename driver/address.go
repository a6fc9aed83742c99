package driver

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// errReserved lists the escapes of characters that would end a login or a part of an address.
var errReserved = errors.New("in a login or a path write %40 for @, %2F for /, %3F for ?, %23 for #, %3A for : and %2C for a comma")

// ParseURL is [url.Parse] for addresses that may hold a password. Its errors quote no part
// of the text. It refuses an @ after the host: the login may contain a reserved character,
// and then its beginning would be taken for the host.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	var escape url.EscapeError
	switch {
	case errors.As(err, &escape):
		return nil, errors.New("a % is not followed by two hexadecimal digits; write %25 for it")
	case err != nil && strings.Contains(err.Error(), "invalid port"):
		return nil, fmt.Errorf("the port is no number; %w", errReserved)
	case err != nil && strings.Contains(text, "@"):
		return nil, errReserved
	case err != nil:
		return nil, errors.New("it is no address")
	}
	_, rest, _ := strings.Cut(text, "//")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 && strings.Contains(rest[i:], "@") {
		return nil, errReserved
	}
	return u, nil
}
