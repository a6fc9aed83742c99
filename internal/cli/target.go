package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"sixnines/driver"
	"sixnines/scenario"
)

// load makes the scenario of a run: from the argument, which is a driver's
// name, a file, "-" for stdin or nothing, with flags laid over it. It is
// normalised and valid, and so are the driver's options.
func (a *app) load(args []string, flags []scenario.Override) (*scenario.Scenario, driver.Entry, error) {
	return a.loadOf(args, flags, "")
}

// loadOf is load, where flags about a load mean that workload of several; empty:
// none of them.
func (a *app) loadOf(args []string, flags []scenario.Override, workload string) (*scenario.Scenario, driver.Entry, error) {
	s := &scenario.Scenario{}
	if len(args) > 0 {
		var err error
		if s, err = a.named(args[0]); err != nil {
			return nil, driver.Entry{}, err
		}
	}
	if workload != "" {
		if _, err := searched(s, workload); err != nil {
			return nil, driver.Entry{}, err
		}
		flags = meant(s, flags, workload)
	}
	e, err := a.complete(s, flags)
	if err != nil {
		return nil, driver.Entry{}, err
	}
	a.noteExposed(flags, e)
	return s, e, nil
}

// complete lays flags over a scenario, normalises it and checks it and the
// driver's options.
func (env *Env) complete(s *scenario.Scenario, flags []scenario.Override) (driver.Entry, error) {
	if err := s.ApplyIn(env.lookup, meant(s, flags, "")...); err != nil {
		return driver.Entry{}, &fault{exitUsage, err, scenarioHint}
	}
	s.Normalise()
	if err := s.Validate(); err != nil {
		return driver.Entry{}, &fault{exitUsage, err, scenarioHint}
	}
	e, ok := env.Drivers.Lookup(s.Target.Driver)
	if !ok {
		return driver.Entry{}, placed(env.unknownDriver(s.Target.Driver), s, "target.driver")
	}
	for _, p := range s.Parts() {
		if wrong := checkOptions(p.Scenario, e); len(wrong) > 0 {
			return driver.Entry{}, &fault{exitUsage, wrong, "see sixnines drivers show " + e.Name}
		}
		if err := checkObjectives(p.Scenario, e); err != nil {
			return driver.Entry{}, err
		}
	}
	if err := env.checkTarget(s, e); err != nil {
		return driver.Entry{}, err
	}
	return e, nil
}

const scenarioHint = "sixnines schema prints the keys of scenarios, sixnines run --help the flags"

// named returns the scenario that an argument of run stands for.
func (env *Env) named(arg string) (*scenario.Scenario, error) {
	if arg == "-" {
		text, err := io.ReadAll(io.LimitReader(env.Stdin, scenario.MaxText+1))
		if err != nil {
			return nil, failed("pipe a scenario into stdin, or name a file", fmt.Errorf("read the scenario from stdin: %w", err))
		}
		return env.parse("stdin", text)
	}
	_, isDriver := env.Drivers.Lookup(arg)
	looksLikeFile := strings.ContainsRune(arg, '/') || strings.ContainsRune(arg, filepath.Separator) || filepath.Ext(arg) != ""
	info, err := os.Stat(env.path(arg))
	isFile := err == nil && !info.IsDir()
	switch {
	case isDriver && isFile:
		return nil, wrongUsage(fmt.Sprintf("write ./%s for the file, or --set target.driver=%s for the driver", arg, arg),
			"%q is both a driver and a file here", arg)
	case isDriver:
		s := &scenario.Scenario{}
		return s, s.Apply(scenario.Override{Key: "target.driver", Value: arg, Flag: "BROKER"})
	case isFile:
		text, err := readText(env.path(arg))
		if err != nil {
			return nil, failed("check the file's permissions", fmt.Errorf("read the scenario: %w", err))
		}
		s, err := env.parse(arg, text)
		if err == nil {
			s.AllowExec() // the user has named the file, and nothing else may run commands
		}
		return s, err
	case err == nil:
		return nil, wrongUsage("name a file in it", "%s is a directory, not a scenario", arg)
	case strings.Contains(arg, "://"): // which may hold a login
		return nil, wrongUsage("name the driver, and give the address with --url: sixnines run nats --url nats://host:4222", "an address was given where a driver or a scenario is expected")
	case looksLikeFile && errors.Is(err, fs.ErrNotExist):
		return nil, wrongUsage("write one with: sixnines run --dry-run > "+arg, "there is no scenario %s", arg)
	case looksLikeFile:
		return nil, failed("name another file", fmt.Errorf("read the scenario: %w", err))
	}
	return nil, env.unknownDriver(arg)
}

// readText reads a file as far as a scenario may be long, and a byte more.
func readText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing to lose
	return io.ReadAll(io.LimitReader(f, scenario.MaxText+1))
}

func (env *Env) parse(name string, text []byte) (*scenario.Scenario, error) {
	s, err := scenario.ParseIn(env.lookup, name, text)
	if err != nil {
		return nil, &fault{exitUsage, err, scenarioHint}
	}
	return s, nil
}

func (env *Env) unknownDriver(name string) error {
	names := env.Drivers.Names()
	return wrongUsage(orMeant(name, names, "the drivers are "+strings.Join(names, ", ")+"; a scenario file ends in .yaml"), "there is no driver %q", name)
}

// placed is an error of usage about the value at a key of a scenario, at the place where
// it was written.
func placed(err error, s *scenario.Scenario, key string) error {
	if f := (*fault)(nil); errors.As(err, &f) {
		return &fault{f.code, s.Wrong(key, f.cause.Error(), ""), f.hint}
	}
	return err
}

// checkOptions decodes the scenario's options as the driver will, and returns all that
// are wrong, each at its place.
func checkOptions(s *scenario.Scenario, e driver.Entry) scenario.Errors {
	var scratch any
	if e.Options != nil {
		copied := reflect.New(reflect.TypeOf(e.Options).Elem())
		copied.Elem().Set(reflect.ValueOf(e.Options).Elem())
		scratch = copied.Interface()
	}
	var all scenario.Errors
	for _, name := range slices.Sorted(maps.Keys(s.Target.Options)) {
		var wrong *driver.OptionError
		if errors.As(driver.DecodeOptions(map[string]any{name: s.Target.Options[name]}, scratch), &wrong) {
			all = append(all, wrongOption(s, wrong)...)
		}
	}
	var wrong *driver.OptionError
	if len(all) == 0 && errors.As(driver.DecodeOptions(s.Target.Options, scratch), &wrong) { // two that contradict each other
		all = wrongOption(s, wrong)
	}
	return all
}

// wrongOption is what a driver says of an option, at the place where it was written.
func wrongOption(s *scenario.Scenario, wrong *driver.OptionError) scenario.Errors {
	return s.Wrong("target.options."+wrong.Option, fmt.Sprintf("option %q: %s", wrong.Option, wrong.Cause), "")
}

// checkTarget refuses a broker without an address that sixnines cannot start, and a login
// to one that sixnines starts, which has none.
func (env *Env) checkTarget(s *scenario.Scenario, e driver.Entry) error {
	if needsURL(s, e) {
		return wrongUsage("give the broker's address, such as --url "+e.DefaultURL,
			"driver %s needs an address: sixnines cannot start this broker", e.Name)
	}
	if err := env.checkScheme(s, e); err != nil {
		return err
	}
	p, managed, err := managedProduct(s, e)
	if err != nil {
		return err
	}
	// With settings the user decides what the broker asks for.
	if login := credentials(s, e); managed && login != "" && len(s.Target.Settings) == 0 {
		return wrongUsage("give another server with --url, or leave --option "+login+" out",
			"the %s that sixnines starts itself requires no login, so option %s would have no effect", p.Name, login)
	}
	return checkTLS(s)
}

// checkScheme refuses an address of another driver's, and names the drivers that take it. It shows nothing of the address but
// its scheme, since the rest may hold a login.
func (env *Env) checkScheme(s *scenario.Scenario, e driver.Entry) error {
	schemeLike := regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)
	for part := range strings.SplitSeq(s.Target.URL, ",") {
		address, _, _ := strings.Cut(part, "?")
		scheme, _, has := strings.Cut(strings.ToLower(strings.TrimSpace(address)), "://")
		if !has || !schemeLike.MatchString(scheme) || len(e.Schemes) == 0 || slices.Contains(e.Schemes, scheme) {
			continue
		}
		hint := "URLs of " + e.Name + " begin with " + strings.Join(each(e.Schemes, addressed), ", ")
		var takers []string
		for _, other := range env.Drivers.Entries() {
			if slices.Contains(other.Schemes, scheme) {
				takers = append(takers, other.Name)
			}
		}
		if len(takers) > 0 {
			hint = "drivers that take " + addressed(scheme) + ": " + strings.Join(takers, ", ") + "; name one, such as sixnines run " + takers[0] + " --url …"
		}
		return placed(wrongUsage(hint, "driver %s takes no address of %s", e.Name, addressed(scheme)), s, "target.url")
	}
	return nil
}

// addressed is how a URL of the scheme begins.
func addressed(scheme string) string { return scheme + "://" }

// checkTLS reads the files of an encrypted connection as the driver will.
func checkTLS(s *scenario.Scenario) error {
	if s.Target.TLS == nil {
		return nil
	}
	if _, err := (*driver.TLS)(s.Target.TLS).Config("localhost"); err != nil {
		return &fault{exitUsage, err, "--tls-ca takes the CA's PEM file; --tls-cert and --tls-key together take the client's, --tls-key-password that of an encrypted key"}
	}
	return nil
}

// credentials returns the first option by which the scenario wants to log in.
func credentials(s *scenario.Scenario, e driver.Entry) string {
	for _, name := range loginOptions(e) {
		if _, ok := s.Target.Options[name]; ok {
			return name
		}
	}
	return ""
}

// loginOptions are the options by which the driver logs in: what it must not
// show, and names and files of a person's.
func loginOptions(e driver.Entry) []string {
	var names []string
	for _, o := range driver.DescribeOptions(e.Options) {
		switch words := strings.Split(o.Name, "_"); {
		case o.Secret, slices.Contains(words, "user"), slices.Contains(words, "username"), slices.Contains(words, "creds"):
			names = append(names, o.Name)
		}
	}
	return names
}
