package cli

import (
	"fmt"
	"strings"

	"sixnines/driver"
)

// permissionObject is a driver.Right in JSON.
type permissionObject struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	For   string `json:"for,omitempty"` // what it is needed for; empty: every run
	At    string `json:"at,omitempty"`  // the product that has it; empty: each
}

// showPermissions writes what the account of runs with the prefix must be allowed.
func (a *app) showPermissions(e driver.Entry, prefix string, asJSON bool) error {
	if e.Rights == nil {
		return wrongUsage("see its page: docs/brokers", "driver %s does not list the permissions that it needs", e.Name)
	}
	if err := e.Naming.CheckPrefix(e.Name, prefix); err != nil {
		return &fault{exitUsage, err, "give --prefix as a run would get it"}
	}
	rights := e.Rights(prefix)
	if asJSON {
		return a.writeJSON(each(rights, func(r driver.Right) permissionObject { return permissionObject(r) }))
	}
	_, err := a.Stdout.Write([]byte(permissionText(rights)))
	return err
}

// permissionText lists rights in columns, and products in one of them if the driver is for several.
func permissionText(rights []driver.Right) string {
	products, names, values := 0, 0, 0
	for _, r := range rights {
		products, names, values = max(products, len(r.At)), max(names, len(r.Name)), max(values, len(r.Value))
	}
	var b strings.Builder
	for _, r := range rights {
		if products > 0 {
			fmt.Fprintf(&b, "%-*s  ", products, r.At)
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %s", names, r.Name, values, r.Value, r.For), " ") + "\n")
	}
	return b.String()
}
