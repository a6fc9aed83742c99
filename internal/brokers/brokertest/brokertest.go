// Package brokertest gives tests real brokers.
package brokertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sixnines/internal/brokers"
)

// Required names the environment variable that, if not empty, makes a broker
// that is not installed a failure of the test instead of a skip. CI sets it, and
// so does the README's test command.
const Required = "SIXNINES_BROKERS_REQUIRED"

// startLimit is how long a broker may take to start. It decides only how long a
// failure takes.
const startLimit = 5 * time.Minute

// Home returns where the tests' brokers are found: where "sixnines broker
// install" puts them.
func Home(t testing.TB) brokers.Home {
	t.Helper()
	dir, err := brokers.DefaultDir(os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	return brokers.Home{Dir: dir, Environ: os.Environ()}
}

// Start starts the product for the test and stops it when the test ends. If the
// product is not installed the test is skipped, or fails where it must be.
func Start(t testing.TB, product string, o brokers.Options) *brokers.Cluster {
	t.Helper()
	p, ok := brokers.Lookup(product)
	if !ok {
		t.Fatalf("there is no product %q", product)
	}
	if o.Home.Environ == nil {
		self := o.Home.Self
		o.Home = Home(t)
		o.Home.Self = self
	}
	if _, err := p.Find(t.Context(), o.Home); errors.Is(err, brokers.ErrNotInstalled) {
		Missing(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	c, err := brokers.Start(ctx, p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Missing ends the test because something is not installed: it fails the test if
// Required is set, else it skips it.
func Missing(t testing.TB, why error) {
	t.Helper()
	if os.Getenv(Required) != "" {
		t.Fatalf("%v (%s is set)", why, Required)
	}
	t.Skipf("SKIPPED: %v", why)
}

// Restart returns a function for drivertest.Harness that kills the nodes and starts
// them again.
func Restart(t testing.TB, c *brokers.Cluster) func() {
	return func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), startLimit)
		defer cancel()
		_, killed := c.Kill(ctx)
		_, resumed := c.Resume(ctx)
		if err := errors.Join(killed, resumed); err != nil {
			t.Error(err)
		}
	}
}

// Freeze returns a function for drivertest.Harness that freezes the nodes.
func Freeze(t testing.TB, c *brokers.Cluster) func() {
	return func() {
		t.Helper()
		if _, err := c.Freeze(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// Thaw returns a function for drivertest.Harness that continues frozen nodes.
func Thaw(t testing.TB, c *brokers.Cluster) func() {
	return func() {
		t.Helper()
		if _, err := c.Thaw(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// Address returns the host and port of a URL's first server.
func Address(t testing.TB, url string) string {
	t.Helper()
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		rest = url
	}
	rest, _, _ = strings.Cut(rest, "/")
	rest, _, _ = strings.Cut(rest, ",")
	if _, after, ok := strings.Cut(rest, "@"); ok {
		rest = after
	}
	if rest == "" {
		t.Fatal(fmt.Errorf("no address in %q", url))
	}
	return rest
}
