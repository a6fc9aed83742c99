package scenario

import (
	"slices"
	"strings"
	"testing"
)

// A command is a list, or a text of words, and is written as a list. It may be run only where that was said, which no text of
// the scenario carries on.
func TestExec(t *testing.T) {
	s := parsed(t, "actions: [{at: 1s, exec: {do: \"nft  add x\", undo: [sh, -c, \"nft 'y' | cat\"], limit: 3s}, for: 2s}, {at: 4s, exec: {do: sync}}]\n")
	acts := s.Acts()
	for i, want := range []string{
		"{at: 1s, exec: {do: [nft, add, x], undo: [sh, -c, \"nft 'y' | cat\"], limit: 3s}, for: 2s}",
		"{at: 4s, exec: {do: [sync]}}",
	} {
		if got := acts[i].String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if !slices.Equal(acts[0].Exec.Do, Command{"nft", "add", "x"}) || acts[0].Subject != "nft" || acts[1].Length() != 0 || !s.CanLose() {
		t.Errorf("%+v of %q, %+v", acts[0].Exec, acts[0].Subject, acts[1])
	}
	if acts[0].Exec.Bound() != 3e9 || acts[1].Exec.Bound() != defaultExecLimit {
		t.Errorf("limits %v and %v", acts[0].Exec.Bound(), acts[1].Exec.Bound())
	}
	b, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	before := s.clone()
	s.AllowExec()
	again, err := FromRecord("x", b)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Acts()[1].Exec.Allowed() || !s.clone().Acts()[0].Exec.Allowed() {
		t.Error("they are not allowed")
	}
	if before.Acts()[0].Exec.Allowed() || again.Acts()[0].Exec.Allowed() {
		t.Error("they are allowed in a copy from before, or in one that was written and read")
	}
	if err := s.Apply(Override{Key: "actions[]", Value: "{at: 5s, exec: {do: id}}"}); err != nil {
		t.Fatal(err)
	}
	if acts := s.Acts(); !acts[0].Exec.Allowed() || acts[2].Exec.Allowed() {
		t.Error("what a flag adds is allowed, or what was there is not")
	}
}

// A variable of a command stands in a list, and its value is in no text.
func TestExecVariables(t *testing.T) {
	env := func(string) (string, bool) { return "a secret", true }
	s, err := ParseIn(env, "x.yaml", []byte("actions: [{at: 1s, exec: {do: [curl, \"${TOKEN}\"]}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	a := s.Acts()[0]
	if a.Exec.Do[1] != "a secret" || strings.Contains(a.String()+string(a.Subject), "secret") || !strings.Contains(a.String(), "${TOKEN}") {
		t.Errorf("%q: %s", a.Exec.Do, a)
	}
	if _, err := ParseIn(env, "x.yaml", []byte("actions: [{at: 1s, exec: {do: \"curl ${TOKEN}\"}}]\n")); err == nil || !strings.Contains(err.Error(), "a variable in a command that is a text") {
		t.Errorf("%v", err)
	}
}

func TestExecThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"{at: 1s, exec: {undo: id}, for: 1s}":                    "has no command",
		"{at: 1s, exec: {do: []}}":                               "has no command",
		"{at: 1s, exec: {do: \"a | b\"}}":                        "which only a shell understands",
		"{at: 1s, exec: {do: \"echo $HOME\"}}":                   "which only a shell understands",
		"{at: 1s, exec: {do: a, undo: b}}":                       "does not say how long",
		"{at: 1s, exec: {do: a}, for: 1s}":                       "has no length",
		"{at: 1s, exec: {do: a, undo: [\"\"]}, for: 1s}":         "the command undo has no program",
		"{at: 1s, exec: {do: a, limit: 1m}}":                     "1ms to 25s",
		"{at: 9s, exec: {do: a, undo: b}, for: 5s}":              "after the window",
		"{at: 1s, exec: {do: a}, workload: b}":                   "happens to all workloads",
		"{at: 1s, exec: {do: {a: b}}}":                           "not a list",
		"{at: 1s, exec: {do: a}, kill: {node: 0}}":               "write two actions",
		"{at: 1s, exec: {do: a, undo: b}, restart: 3s, for: 1s}": "ends no node",
	} {
		s, err := Parse("x.yaml", []byte("phases: {duration: 10s}\nactions: ["+text+"]\n"))
		if err == nil {
			s.Normalise()
			err = s.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
