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

// permissionText lists rights in columns.
func permissionText(rights []driver.Right) string {
	names, values := 0, 0
	for _, r := range rights {
		names, values = max(names, len(r.Name)), max(values, len(r.Value))
	}
	var b strings.Builder
	for _, r := range rights {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %s", names, r.Name, values, r.Value, r.For), " ") + "\n")
	}
	return b.String()
}
