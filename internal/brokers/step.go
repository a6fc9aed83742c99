package brokers

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Step is one command of an installation. It is shown before it is run, as a person
// would type it.
type Step struct {
	Doc     string   // what it does, for people: "install Debian's packages redis-server"
	Command []string // the program and its arguments
	Dir     string   // the working directory; empty: any. It is made if it does not exist.
	Env     []string // variables beside the home's environment, as NAME=value
	// Root says that the command needs the system's administrator.
	Root bool
	// Files are written, by name below Dir, before the command runs.
	Files map[string]string
	// Moves maps directories that the command fills to their final names. They are
	// renamed only when all steps have succeeded, so that an incomplete installation
	// is never found.
	Moves map[string]string
}

// String returns the step as a line for a shell.
func (s Step) String() string {
	var b strings.Builder
	if s.Dir != "" {
		b.WriteString("(cd " + quote(s.Dir) + " && ")
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
	if s.Dir != "" {
		b.WriteByte(')')
	}
	return b.String()
}

// Script returns steps as lines for a shell, including the files that they write.
// The renaming of directories to their final names comes at the end.
func Script(steps []Step) []string {
	var lines, moves []string
	for _, s := range steps {
		lines = append(lines, "# "+s.Doc)
		if s.Dir != "" {
			lines = append(lines, "mkdir -p "+quote(s.Dir))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Files)) {
			if below := filepath.Dir(name); below != "." {
				lines = append(lines, "mkdir -p "+quote(filepath.Join(s.Dir, below)))
			}
			lines = append(lines, "cat >"+quote(filepath.Join(s.Dir, name))+" <<'END'")
			lines = append(lines, strings.Split(strings.TrimSuffix(s.Files[name], "\n"), "\n")...)
			lines = append(lines, "END")
		}
		if len(s.Command) > 0 {
			lines = append(lines, s.String())
		}
		for _, from := range slices.Sorted(maps.Keys(s.Moves)) {
			moves = append(moves, "mv -T "+quote(from)+" "+quote(s.Moves[from]))
		}
	}
	return append(lines, moves...)
}

// quote returns text that a shell reads as the one word.
func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
