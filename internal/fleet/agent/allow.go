package agent

import (
	"fmt"
	"maps"
	"math"
	"net"
	neturl "net/url"
	"reflect"
	"slices"
	"strings"

	"sixnines/driver"
	"sixnines/internal/fleet/wire"
	"sixnines/scenario"
)

// Allow is what the user of an agent lets plans ask for. The zero value allows every target, rate and size, and
// nothing of this machine but its processors and network.
type Allow struct {
	Targets []string // HOST:PORT, or HOST:* for all ports; empty: all
	Rate    int64    // most messages a second, at any instant; 0: all
	Size    int64    // largest payload, in bytes; 0: all
	// Connections are the most that are open at a time, but for a few that drivers need; 0: as many as a plan has.
	Connections int64
	// Files are names of files that plans may name, by what they are for, such as [FileCA], or the name of an option of
	// the driver that is one.
	Files map[string][]string
	// Environment are the variables of this process's environment that plans may read.
	Environment []string
}

// What files are for, besides options of drivers, in Allow.Files.
const (
	FileCA      = "tls-ca"
	FileCert    = "tls-cert"
	FileKey     = "tls-key"
	FileTrace   = "trace"   // arrivals
	FilePayload = "payload" // what payloads are cut from
)

// OptionPrefix begins, in Allow.Files, the name of an option of the driver.
const OptionPrefix = "option."

// allowEnvironment is what --allow says before the name of a variable.
const allowEnvironment = "env"

// Add adds what a text like tls-ca=FILE, option.creds=FILE or env=NAME allows.
func (a *Allow) Add(text string) error {
	use, value, ok := strings.Cut(text, "=")
	option, isOption := strings.CutPrefix(use, OptionPrefix)
	switch {
	case !ok || value == "":
		return fmt.Errorf("%q does not say what is allowed: write such as tls-ca=FILE, option.creds=FILE or env=NAME", text)
	case use == allowEnvironment:
		a.Environment = append(a.Environment, value)
		return nil
	case !isOption && !slices.Contains([]string{FileCA, FileCert, FileKey, FileTrace, FilePayload}, use) || isOption && option == "":
		return fmt.Errorf("%q is nothing that can be allowed: there are %s, %s, %s, %s, %s, %sNAME and %s", use,
			FileCA, FileCert, FileKey, FileTrace, FilePayload, OptionPrefix, allowEnvironment)
	}
	if a.Files == nil {
		a.Files = map[string][]string{}
	}
	a.Files[use] = append(a.Files[use], value)
	return nil
}

// AddTarget adds a target: HOST:PORT or HOST:*.
func (a *Allow) AddTarget(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || port == "" {
		return fmt.Errorf("the target %q is not HOST:PORT, or HOST:* for all of its ports", text)
	}
	a.Targets = append(a.Targets, text)
	return nil
}

// shown is what of it an agent says.
func (a *Allow) shown(drivers driver.Set) wire.Allows {
	w := wire.Allows{Drivers: drivers.Names(), Targets: a.Targets, Rate: a.Rate, Size: a.Size, Connections: a.Connections}
	w.More = slices.Sorted(maps.Keys(a.Files))
	for _, name := range a.Environment {
		w.More = append(w.More, allowEnvironment+" "+name)
	}
	return w
}

// forbidden is why a plan is not carried out here, whoever sends it.
type forbidden struct{ why string }

func (f forbidden) Error() string { return f.why }

func forbid(format string, v ...any) error { return forbidden{fmt.Sprintf(format, v...)} }

// check returns what of a scenario is forbidden, as an error of type forbidden. The scenario is normalised and valid. elsewhere
// says that the coordinator carries out what happens to more than the clients.
func (a *Allow) check(s *scenario.Scenario, e driver.Entry, elsewhere bool) error {
	if s.Target.URL == "" && !e.InProcess {
		return forbid("the plan names no address, and an agent starts no broker: give target.url")
	}
	if s.Target.Managed != "" || s.Target.Nodes != 0 || len(s.Target.Settings) > 0 {
		return forbid("the plan describes a broker to start, and an agent starts none: leave target.managed, nodes and settings out")
	}
	if s.Network != nil {
		return forbid("the plan changes the network of this machine, which an agent does not do: leave network out")
	}
	for _, act := range s.Acts() {
		if act.Properties().Run && !elsewhere {
			return forbid("the plan has the action %s, which happens to more than the clients: an agent does not carry it out", act.Kind)
		}
	}
	if err := a.targets(s.Target.URL, e); err != nil {
		return err
	}
	return a.files(s, e)
}

// targets checks the addresses of the system under test.
func (a *Allow) targets(url string, e driver.Entry) error {
	for text := range strings.SplitSeq(url, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		// A scheme means the same in capitals.
		if scheme, _, ok := strings.Cut(text, "://"); ok && (strings.EqualFold(scheme, "ipc") || strings.EqualFold(scheme, "unix")) {
			return forbid("the plan's address is a socket in the file system of this machine, and an agent opens none")
		}
		if len(a.Targets) == 0 {
			continue
		}
		if err := a.target(hostPort(text)); err != nil {
			return err
		}
		if err := a.parameters(text, e); err != nil {
			return err
		}
	}
	return nil
}

// parameters checks what parameters of an address may lead to: those that the driver takes for an address, and
// whatever looks like one.
func (a *Allow) parameters(address string, e driver.Entry) error {
	_, query, _ := strings.Cut(address, "?")
	given, err := neturl.ParseQuery(query)
	if err != nil {
		return forbid("the plan's address has parameters that cannot be read")
	}
	isAddress := func(name string) bool {
		return slices.ContainsFunc(driver.DescribeOptions(e.Options), func(o driver.Option) bool {
			return o.Names == driver.NamesAddress && o.Parameter == name
		})
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		for _, value := range given[name] {
			if value == "" || !strings.Contains(value, ":") && !isAddress(name) {
				continue
			}
			if err := a.target(hostPort(value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// target checks one address.
func (a *Allow) target(address string) error {
	if len(a.Targets) == 0 {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return forbid("the plan's address has no port, and this agent allows only %s (--allow-target)", strings.Join(a.Targets, ", "))
	}
	if !slices.ContainsFunc(a.Targets, func(t string) bool {
		allowed, port, _ := net.SplitHostPort(t) // checked by AddTarget
		return strings.EqualFold(t, address) || port == "*" && strings.EqualFold(allowed, host)
	}) {
		return forbid("the target %s is not allowed here: this agent allows %s (--allow-target)", address, strings.Join(a.Targets, ", "))
	}
	return nil
}

// hostPort is what of an address is between the scheme and the login on one side, and the path on the other.
func hostPort(text string) string {
	text = strings.TrimSpace(text)
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	if i := strings.IndexAny(text, "/?#"); i >= 0 {
		text = text[:i]
	}
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		text = text[i+1:]
	}
	return text
}

// files checks the files that a scenario names.
func (a *Allow) files(s *scenario.Scenario, e driver.Entry) error {
	may := func(use, name string) error {
		if name == "" || slices.Contains(a.Files[use], name) {
			return nil
		}
		return forbid("the plan names the file %.200q: an agent reads it only if its user allows that (--allow %s=FILE)", name, use)
	}
	if t := s.Target.TLS; t != nil {
		for _, f := range []struct{ use, name string }{{FileCA, t.CA}, {FileCert, t.Cert}, {FileKey, t.Key}} {
			if err := may(f.use, f.name); err != nil {
				return err
			}
		}
	}
	for _, p := range s.Parts() {
		w := &p.Scenario.Workload
		if err := may(FileTrace, w.Arrivals.File); err != nil {
			return err
		}
		if err := may(FilePayload, w.Payload.Path); err != nil {
			return err
		}
		if err := a.options(p.Scenario.Target.Options, e, may); err != nil {
			return err
		}
	}
	return nil
}

// options checks the options of the driver that name files and addresses.
func (a *Allow) options(given map[string]any, e driver.Entry, may func(use, name string) error) error {
	if e.Options == nil {
		return nil
	}
	set := reflect.New(reflect.TypeOf(e.Options).Elem())
	set.Elem().Set(reflect.ValueOf(e.Options).Elem())
	if err := driver.DecodeOptions(given, set.Interface()); err != nil {
		return err
	}
	defaults := driver.DescribeOptions(e.Options)
	for i, o := range driver.DescribeOptions(set.Interface()) {
		if o.Names == "" || o.Default == defaults[i].Default {
			continue
		}
		var err error
		switch o.Names {
		case driver.NamesFile:
			err = may(OptionPrefix+o.Name, o.Default)
		case driver.NamesAddress:
			for one := range strings.SplitSeq(o.Default, ",") {
				if err = a.target(hostPort(one)); err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkLoad refuses more than this agent may send.
func (a *Allow) checkLoad(l Load) error {
	switch {
	case a.Rate > 0 && math.IsInf(l.Rate, 1):
		return forbid("the plan sends as fast as it can, and this agent sends at most %d messages a second (--max-rate)", a.Rate)
	case a.Rate > 0 && !(l.Rate <= float64(a.Rate)):
		return forbid("the plan sends up to %.6g messages a second from here, and this agent sends at most %d (--max-rate)", l.Rate, a.Rate)
	case a.Size > 0 && l.Size > a.Size:
		return forbid("the plan has payloads of up to %d bytes, and this agent sends at most %d (--max-size)", l.Size, a.Size)
	case a.Connections > 0 && l.Connections > a.Connections:
		return forbid("the plan opens up to %d connections from here, and this agent opens at most %d (--max-connections)", l.Connections, a.Connections)
	}
	return nil
}
