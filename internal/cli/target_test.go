package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sixnines/drivers/all"
	"sixnines/scenario"
)

// An address of any driver's scheme is that of the driver that was named, or the hint names the drivers that take it.
func TestSchemesLeadToTheirDrivers(t *testing.T) {
	env := &Env{Drivers: all.Set()}
	for _, named := range env.Drivers.Entries() {
		for _, other := range env.Drivers.Entries() {
			for _, scheme := range other.Schemes {
				s := &scenario.Scenario{}
				s.Target.URL = "first.example:1, " + strings.ToUpper(scheme) + "://ada:word@host:1"
				err := env.checkScheme(s, named)
				var f *fault
				switch {
				case slices.Contains(named.Schemes, scheme):
					if err != nil {
						t.Errorf("%s refuses %s: %v", named.Name, scheme, err)
					}
				case !errors.As(err, &f) || f.code != exitUsage:
					t.Errorf("%s with %s: %v", named.Name, scheme, err)
				case !strings.Contains(f.hint, other.Name) || !strings.Contains(f.hint, scheme+"://") || strings.Contains(f.Error()+f.hint, "word"):
					t.Errorf("%s with %s: %v; hint: %s", named.Name, scheme, f, f.hint)
				}
			}
		}
	}
	for url, wants := range map[string]string{"foo://host": "URLs of nats begin with nats://", "ada:wo://rd@host": "", "host:1": "", "nats://ada:redis://@host": ""} {
		s := &scenario.Scenario{}
		s.Target.URL = url
		e, _ := env.Drivers.Lookup("nats")
		var f *fault
		if err := env.checkScheme(s, e); (err == nil) != (wants == "") || err != nil && (!errors.As(err, &f) || !strings.Contains(f.hint, wants)) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
