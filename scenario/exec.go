package scenario

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/strict"
)

// Exec are the parameters of an action that runs commands of the user's, such as one that parts a broker which sixnines
// has not started from its clients. They are run only where the user named the file that contains them, see
// [Scenario.AllowExec].
type Exec struct {
	Do    Command       `yaml:"do" doc:"the program that is run, and its arguments: a list, or a text of words separated by spaces, which no shell reads"`
	Undo  Command       `yaml:"undo,omitempty" doc:"what undoes it, when for is over; without it nothing is undone, and for is left out"`
	Limit time.Duration `yaml:"limit,omitempty" doc:"how long each of them may run before it is killed, and counts as failed; default 10s" min:"1ms" max:"25s"`

	allowed bool // see AllowExec
}

// Command is a program with its arguments. In YAML it is a list, or a text of words.
type Command []string

// defaultExecLimit is how long a command may run where the scenario does not say it.
const defaultExecLimit = 10 * time.Second

// Bound returns how long each command may run.
func (x *Exec) Bound() time.Duration {
	if x.Limit == 0 {
		return defaultExecLimit
	}
	return x.Limit
}

// Allowed reports whether the commands may be run: [Scenario.AllowExec] was called for them.
func (x *Exec) Allowed() bool { return x.allowed }

// AllowExec allows the commands of all actions that the scenario has now. It is for a scenario that was read from a
// file which the user named: what comes from anywhere else, such as a result or another machine, must not run commands
// here. Copies of the scenario have it, and texts of it do not: a scenario that was encoded and read again has to be
// allowed again.
func (s *Scenario) AllowExec() {
	for i := range s.Actions {
		if x := s.Actions[i].Exec; x != nil {
			own := *x
			own.allowed = true
			s.Actions[i].Exec = &own
		}
	}
}

// subject names the command without its arguments, which may hold what is not to be shown.
func (c Command) subject() Subject {
	if len(c) == 0 {
		return "nothing"
	}
	return Subject(filepath.Base(c[0]))
}

// shellSigns are those of a text that would mean something to a shell.
const shellSigns = "'\"`|&;<>()*?\\~#$"

// words turns the text of a command into the list of its words.
func (d *decoder) words(n *strict.Node, key string) *strict.Node {
	const hint = `no shell reads it: write a list, such as [sh, -c, "…"]`
	if _, is := d.written[key]; is { // its value may have spaces, and is not to be shown
		d.Fail(n, key, "a variable in a command that is a text", "write a list, such as [program, ${NAME}]")
		return nil
	}
	if i := strings.IndexAny(n.Value, shellSigns); i >= 0 {
		d.Fail(n, key, fmt.Sprintf("the command has %q, which only a shell understands", n.Value[i:i+1]), hint)
		return nil
	}
	list := &strict.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: n.Line, Column: n.Column}
	for word := range strings.FieldsSeq(n.Value) {
		list.Content = append(list.Content, &strict.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: n.Line, Column: n.Column, Value: word})
	}
	return list
}

// checkExec checks the commands of an action.
func checkExec(v *validator, a *Act) {
	at := strict.Join(a.key, string(ActionExec))
	v.refuse(len(a.Exec.Do) == 0 || a.Exec.Do[0] == "", "the action exec has no command", `write exec: {do: "…", undo: "…"}`, strict.Join(at, "do"), at, a.key)
	v.refuse(len(a.Exec.Undo) > 0 && a.Exec.Undo[0] == "", "the command undo has no program", "write one, or leave undo out", strict.Join(at, "undo"), at, a.key)
}
