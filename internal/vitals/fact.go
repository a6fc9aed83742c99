package vitals

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// Unknown is the value of a [Fact] that could not be read; its note says why.
const Unknown = "unknown"

// Fact is one property of the machine, the process or the build.
type Fact struct {
	Section string `json:"section"` // "cpu", "memory", "kernel", "limits", "time", "network", "go", "build" or "module"
	Name    string `json:"name"`    // unique within its section
	Value   string `json:"value"`   // for users and for comparison; Unknown if it could not be read
	Note    string `json:"note,omitempty"`
}

// Fingerprint returns the conditions of a measurement, in a fixed order: the
// machine, its kernel and limits, clock synchronisation, network settings, the
// Go runtime, the build, and the versions of the linked modules (the named ones,
// or all without names). A fact that cannot be read is [Unknown], with the reason
// as its note. It reads files and takes some milliseconds. No fact names the host
// or its user.
func Fingerprint(modules ...string) []Fact {
	return append(machine{hostRoot()}.facts(), programFacts(modules)...)
}

// syncState is the kernel's state of the wall clock's synchronisation.
type syncState struct {
	synchronised       bool
	maxError, estError time.Duration
	offset             time.Duration // that is still slewed away
	frequency          float64       // ppm
}

// facts collects the facts of one section.
type facts struct {
	section string
	list    []Fact
}

func (f *facts) add(name, value, note string) {
	if value == "" {
		value = Unknown
	}
	f.list = append(f.list, Fact{f.section, name, value, note})
}

// addOr adds value, or Unknown with the error as note.
func (f *facts) addOr(name, value string, err error) {
	if err != nil {
		f.add(name, Unknown, reason(err))
		return
	}
	note := ""
	if value == "" {
		note = "the source is empty"
	}
	f.add(name, value, note)
}

// reason shortens an error to what a reader of facts needs.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Sprintf("/%s: %v", strings.TrimPrefix(p.Path, "/"), p.Err)
	}
	return err.Error()
}

// readWord returns a file's content without surrounding blanks.
func readWord(root fs.FS, name string) (string, error) {
	b, err := fs.ReadFile(root, name)
	return strings.TrimSpace(string(b)), err
}

// chosen returns the bracketed one of "always [madvise] never".
func chosen(s string) string {
	if _, after, ok := strings.Cut(s, "["); ok {
		if word, _, ok := strings.Cut(after, "]"); ok {
			return word
		}
	}
	return s
}
