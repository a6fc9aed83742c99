package main

import (
	"fmt"
	"os"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// licences are those of modules as NOTICE lists them, by their paths: a line of two spaces, the module,
// spaces and the licence. A test of the program demands that it lists all that is linked.
func licences(notice string) (map[string]string, error) {
	text, err := os.ReadFile(notice)
	if err != nil {
		return nil, err
	}
	all := map[string]string{"std": "BSD-3-Clause"}
	for line := range strings.Lines(string(text)) {
		if path, licence, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(line, "  ") && strings.Contains(path, "/") {
			all[path] = strings.TrimSpace(licence)
		}
	}
	return all, nil
}

// licensed adds a module's licence: by its SPDX identifier, or as NOTICE says it where it is more than one.
func licensed(c cdx.Component, all map[string]string) (cdx.Component, error) {
	switch text := all[c.Name]; {
	case text == "":
		return c, fmt.Errorf("NOTICE has no licence of %s", c.Name)
	case strings.ContainsAny(text, " ,;("):
		c.Licenses = &cdx.Licenses{{License: &cdx.License{Name: text}}}
	default:
		c.Licenses = &cdx.Licenses{{License: &cdx.License{ID: text}}}
	}
	return c, nil
}
