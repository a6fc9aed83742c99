package cli

import (
	"fmt"
	"slices"

	"sixnines/driver"
	"sixnines/internal/secret"
	"sixnines/scenario"
)

// concealed is an error whose text contains no secrets.
type concealed struct {
	error
	text string
}

func (c *concealed) Error() string { return c.text }
func (c *concealed) Unwrap() error { return c.error }

// conceal removes the secrets of a scenario from an error: clients and brokers quote
// addresses and lines of configurations.
func conceal(err error, s *scenario.Scenario, e driver.Entry) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if shown := secret.Conceal(text, s.Secrets(e.Secret)); shown != text {
		return &concealed{err, shown}
	}
	return err
}

// noteExposed warns once about each secret in the command line itself.
func (a *app) noteExposed(flags []scenario.Override, e driver.Entry) {
	if slices.Contains(a.Args, "--quiet") {
		return
	}
	for _, o := range flags {
		what := secret.Spelled(o.Key, o.Value, e.Secret)
		if what != "" && o.Key == secret.KeyPassword {
			what = "--tls-key-password"
		}
		if what == "" || slices.Contains(a.warnedSecrets, what) {
			continue
		}
		a.warnedSecrets = append(a.warnedSecrets, what)
		instead := fmt.Sprintf("write %s=env:NAME or %s=@FILE", what, what)
		if o.Key == "target.url" {
			instead = "write '${LOGIN}' instead, in single quotes"
		}
		fmt.Fprintf(a.Stderr, "note: %s is on the command line, where other users of this machine can read it; %s\n", what, instead)
	}
}
