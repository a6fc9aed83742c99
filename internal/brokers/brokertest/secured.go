package brokertest

import (
	"testing"

	"sixnines/driver"
	"sixnines/internal/brokers"
)

// Secured starts the product for the test with encryption and an account that has the driver's
// rights under the prefix bench, and no others. It returns the target of that account.
func Secured(t testing.TB, product string, e driver.Entry, o brokers.Options) (*brokers.Cluster, driver.Target) {
	t.Helper()
	prefix := SecuredPrefix(e)
	for _, r := range e.Rights(prefix) {
		if r.At != "" && r.At != product {
			continue
		}
		o.Secured = append(o.Secured, brokers.Grant{Driver: e.Name, Right: r.Name, Of: r.Value})
	}
	c := Start(t, product, o)
	access, ok := c.Access(e.Name)
	if !ok {
		t.Fatalf("%s is not secured for %s", product, e.Name)
	}
	login, err := access.Login()
	if err != nil {
		t.Fatal(err)
	}
	target := driver.Target{URL: c.URLFor(e.Name), Prefix: prefix, TLS: &driver.TLS{CA: access.CA}, Options: map[string]any{}}
	for name, value := range login {
		target.Options[name] = value
	}
	return c, target
}

// SecuredPrefix is that of the names which the account may use.
func SecuredPrefix(e driver.Entry) string { return "bench" + e.Naming.Separator }
