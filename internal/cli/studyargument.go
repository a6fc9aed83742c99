package cli

import (
	"strings"

	"sixnines/internal/brokers"
	"sixnines/internal/study"
)

const brokerForm = "write --broker PRODUCT=VERSION,VERSION, such as --broker kafka=3.9.1,4.3.1; sixnines broker list shows the versions that are installed"

// argued puts the value of --broker into a study, and returns the study with the meaning of
// the value. A study that has such an argument requires it; others refuse it.
func (env *Env) argued(s *study.Study, text string) (*study.Study, string, error) {
	switch {
	case s.Argument == nil && text == "":
		return s, "", nil
	case s.Argument == nil:
		return nil, "", wrongUsage("leave --broker out; the study versions takes it", "the study %s defines its own systems", s.Name)
	case text == "":
		return nil, "", wrongUsage(brokerForm, "the study %s needs a broker and its versions", s.Name)
	}
	arg, err := env.versionsOf(text)
	if err != nil {
		return nil, "", err
	}
	if err := arg.Validate(); err != nil {
		return nil, "", wrongUsage(brokerForm, "--broker %s: %w", oneLine(text), err)
	}
	if s, err = s.With(arg); err != nil {
		return nil, "", asUsage(err)
	}
	return s, arg.String(), nil
}

// versionsOf reads PRODUCT=VERSION,VERSION. A driver may replace its product, and a prefix
// of a version means the newest installed one with that prefix.
func (env *Env) versionsOf(text string) (study.Argument, error) {
	name, list, ok := strings.Cut(text, "=")
	if !ok {
		return study.Argument{}, wrongUsage(brokerForm, "--broker %q names no versions", oneLine(text))
	}
	arg := study.Argument{Broker: name, Driver: name}
	p, known := brokers.Lookup(name)
	switch {
	case known && len(p.Drivers) > 0:
		arg.Driver = p.Drivers[0]
	case known:
		return arg, wrongUsage("write the product and its versions: kafka=0.9.0.0,4.3.1", "%s is a single version", name)
	default:
		if p, known = brokers.ForDriver(name); !known {
			return arg, wrongUsage(orMeant(name, productNames(), "choose one of "+strings.Join(brokers.Versioned(), ", ")), "there is no broker %q", oneLine(name))
		}
	}
	arg.Product = p.Name
	h, _ := env.home() // without one, nothing is installed
	for _, version := range strings.Split(list, ",") {
		version, err := p.Complete(h, strings.TrimSpace(version))
		if err != nil {
			return arg, brokerFault(err, p, byHome)
		}
		arg.Versions = append(arg.Versions, version)
	}
	return arg, nil
}
