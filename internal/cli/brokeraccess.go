package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sixnines/driver"
	"sixnines/internal/brokers"
)

// securedPrefix begins the prefix of names that the account of a secured broker may use; the driver's
// separator follows.
const securedPrefix = "bench"

// grants are the rights of the drivers for which the product can be secured.
func grants(p brokers.Product, drivers driver.Set) []brokers.Grant {
	all := []brokers.Grant{}
	for _, name := range p.Secures {
		e, ok := drivers.Lookup(name)
		if !ok || e.Rights == nil {
			continue
		}
		for _, r := range e.Rights(securedPrefix + e.Naming.Separator) {
			if r.At != "" && r.At != p.Name {
				continue
			}
			all = append(all, brokers.Grant{Driver: name, Right: r.Name, Of: r.Value})
		}
	}
	return all
}

// printAccess writes the flags with which runs use a secured broker: those of the product's first driver are
// the output, and those of others notes.
func (a *app) printAccess(p brokers.Product, s *brokers.State) error {
	first := true
	for _, name := range p.Secures {
		switch _, ok := s.Access[name]; {
		case !ok:
		case first:
			if _, err := fmt.Fprintln(a.Stdout, a.accessFlags(name, s)); err != nil {
				return err
			}
			first = false
		default:
			fmt.Fprintf(a.Stderr, "for driver %s: %s\n", name, a.accessFlags(name, s))
		}
	}
	return nil
}

// accessFlags are the flags of a driver's runs. Secrets are files.
func (a *app) accessFlags(name string, s *brokers.State) string {
	access := s.Access[name]
	words := []string{"--url", s.URLFor(name), "--tls-ca", access.CA}
	for _, option := range slices.Sorted(maps.Keys(access.Options)) {
		words = append(words, "--option", option+"="+access.Options[option])
	}
	for _, option := range slices.Sorted(maps.Keys(access.Files)) {
		words = append(words, "--option", option+"=@"+access.Files[option])
	}
	if e, ok := a.Drivers.Lookup(name); ok {
		words = append(words, "--prefix", securedPrefix+e.Naming.Separator)
	}
	return strings.Join(words, " ")
}
