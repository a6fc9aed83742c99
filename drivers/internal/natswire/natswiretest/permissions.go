package natswiretest

import (
	"fmt"
	"strings"

	"sixnines/driver"
)

// Permissions returns the rights in the notation of a server's configuration: nothing else is
// allowed.
func Permissions(rights []driver.Right) string {
	subjects := map[string][]string{}
	for _, r := range rights {
		subjects[r.Name] = append(subjects[r.Name], fmt.Sprintf("%q", r.Value))
	}
	return fmt.Sprintf("{ publish: [ %s ], subscribe: [ %s ] }", strings.Join(subjects["publish"], ", "), strings.Join(subjects["subscribe"], ", "))
}
