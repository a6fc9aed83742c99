package brokers

import (
	"strings"
)

// Step is one command of an installation. It is shown before it is run, and it
// is what a person would type.
type Step struct {
	Doc     string   // what it does, for people: "install Debian's packages redis-server"
	Command []string // the program and its arguments
	Dir     string   // the working directory; empty: any. It is made if it does not exist.
	Env     []string // variables beside the home's environment, as NAME=value
	// Root says that the command needs the system's administrator.
	Root bool
	// Files are written, by name below Dir, before the command runs.
	Files map[string]string
	// Moves is, where not empty, what the command has filled: a directory that
	// takes its final name, the value, only when all steps have succeeded, so
	// that nothing half-installed can be found. The key is the directory until
	// then.
	Moves map[string]string
}

// String returns the step as a line for a shell.
func (s Step) String() string {
	var b strings.Builder
	if s.Dir != "" {
		b.WriteString("cd " + quote(s.Dir) + " && ")
	}
	if s.Root {
		b.WriteString("sudo ")
	}
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		b.WriteString(name + "=" + quote(value) + " ")
	}
	for i, word := range s.Command {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quote(word))
	}
	return b.String()
}

// quote makes a word that a shell takes for one.
func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
