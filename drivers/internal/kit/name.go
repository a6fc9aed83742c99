package kit

import (
	"fmt"
	"strings"

	"sixnines/driver"
)

// PlainName reports whether a name means the same in topics, groups, URLs and files: it
// has 1 to 200 letters, digits, dots, hyphens and underscores.
func PlainName(name string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return name != "" && len(name) <= 200 && strings.Trim(name, plain) == ""
}

// CheckName refuses a name that is not plain, such as that of a topic.
func (e *Errors) CheckName(what, name string) error {
	if PlainName(name) {
		return nil
	}
	return fmt.Errorf("%s: %s %q: %w: names are made of up to 200 letters, digits, dots, hyphens and underscores", e.Driver, what, name, driver.ErrUnsupported)
}
