package cli

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/all"
	"sixnines/scenario"
)

// What is said of an error helps in that case: who lacks a right is not told to log in, and an
// expired certificate is no matter of the authority.
func TestHintsForMistakes(t *testing.T) {
	entries := map[string]driver.Entry{}
	for _, e := range all.Set().Entries() {
		entries[e.Name] = e
	}
	expired := x509.CertificateInvalidError{Reason: x509.Expired, Detail: "current time is after"}
	for _, c := range []struct {
		driver, prefix string
		err            error
		says, not      string
	}{
		{"redis", "", driver.ErrForbidden, "sixnines drivers show redis --permissions lists what the account needs; with --prefix", "give the login"},
		{"redis", "bench.", driver.ErrForbidden, "--permissions --prefix bench. lists", "with --prefix all names"},
		{"kafka", "", driver.ErrForbidden, "sixnines drivers show kafka --permissions lists what the account needs", "give the login"},
		{"redis", "", driver.ErrUnauthorized, "give the login of a user of the broker: --option user=…, --option password=env:NAME", "account needs"},
		{"zeromq", "", driver.ErrForbidden, "what the account needs", "--prefix"},
		{"nats", "", fmt.Errorf("%w: %w", driver.ErrNotConnected, expired), "certificate has expired", "--tls-ca"},
		{"nats", "", fmt.Errorf("%w: %w", driver.ErrNotConnected, syscall.EMFILE), "ulimit -n", "--url"},
		{"nats", "", x509.UnknownAuthorityError{}, "--tls-ca FILE", "expired"},
		{"nats", "", x509.HostnameError{}, "--tls-server-name", "expired"},
	} {
		s := &scenario.Scenario{Target: scenario.Target{Driver: c.driver, URL: "x", Prefix: c.prefix}}
		e, known := entries[c.driver]
		if !known {
			e.Name = c.driver
		}
		var f *fault
		if !errors.As(runFault(fmt.Errorf("x: %w", c.err), s, e, false), &f) || !strings.Contains(f.hint, c.says) || strings.Contains(f.hint, c.not) {
			t.Errorf("%s, %v: %+v; want %q and not %q", c.driver, c.err, f, c.says, c.not)
		}
	}
}
