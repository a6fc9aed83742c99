package resp

import (
	"strings"

	"sixnines/driver"
)

// Commands are the rights to use commands. A word with a space says what those after it are
// for; so does the empty one, of every run. What follows last is optional for every run.
func Commands(words ...string) (all []driver.Right) {
	why := ""
	for _, word := range append(words, "the server's name and settings in the result (optional)", "info", "config|get", "names of connections (optional)", "client|setname") {
		if word == "" || strings.Contains(word, " ") {
			why = word
			continue
		}
		all = append(all, driver.Right{Name: "commands", Value: "+" + word, For: why})
	}
	return all
}
