package natswire

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sixnines/driver"
)

// ParseServers splits the target's URL into those of its servers, which have one
// of two or more schemes. Errors begin with the product's name and are of class
// driver.ErrOption.
func ParseServers(product, target string, schemes ...string) ([]string, error) {
	var servers []string
	for _, server := range strings.Split(target, ",") {
		server = strings.TrimSpace(server)
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		u, err := url.Parse(server)
		if err != nil {
			// The error would repeat the URL and a password in it.
			var parse *url.Error
			if errors.As(err, &parse) {
				err = parse.Err
			}
			return nil, fmt.Errorf("%s: %w: the URL cannot be read: %w; want one such as nats://host:4222", product, driver.ErrOption, err)
		}
		if last := len(schemes) - 1; !slices.Contains(schemes, u.Scheme) {
			return nil, fmt.Errorf("%s: %w: scheme %q of %s: want %s or %s", product, driver.ErrOption, u.Scheme, u.Redacted(), strings.Join(schemes[:last], ", "), schemes[last])
		}
		if u.Hostname() == "" {
			return nil, fmt.Errorf("%s: %w: no host in URL %q; want one such as nats://host:4222", product, driver.ErrOption, u.Redacted())
		}
		servers = append(servers, server)
	}
	return servers, nil
}

// Redact returns the servers' URLs without passwords and tokens.
func Redact(servers []string) string {
	shown := make([]string, len(servers))
	for i, server := range servers {
		if u, err := url.Parse(server); err == nil {
			if u.User != nil {
				u.User = url.User("xxxxx")
			}
			shown[i] = u.String()
		}
	}
	return strings.Join(shown, ",")
}
