package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func isPassword(name string) bool { return name == "password" }

// An option may say where its value is, and what it says is written down instead of
// the value.
func TestReferences(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	file := write("secret", "hunter2\n")
	env := func(name string) (string, bool) {
		value, ok := map[string]string{"PW": "hunter2", "ODD": "@env:x", "EMPTY": "", "DIR": dir, "BAD": "\xff"}[name]
		return value, ok
	}
	for text, want := range map[string]string{
		"env:PW":                       "hunter2",
		"@" + file:                     "hunter2",
		"@${DIR}/secret":               "hunter2",
		"@" + write("crlf", "a b\r\n"): "a b",
		"@" + write("two", "a\nb\n"):   "a\nb",
		"literal:@" + file:             "@" + file,
		"literal:env:PW":               "env:PW",
		"literal:literal:x":            "literal:x",
		"literal:${PW}":                "hunter2",
		"${ODD}":                       "@env:x", // what a variable gave is no reference
		"env:ODD":                      "@env:x",
		"a@b":                          "a@b",
		"ENV:PW":                       "ENV:PW",
	} {
		s := &Scenario{}
		if err := s.ApplyIn(env, Override{Key: "target.options.password", Value: text}); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := s.Target.Options["password"]; got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
		shown, err := s.Redacted(isPassword).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(shown), "hunter2") || strings.Contains(string(shown), "@env:x") {
			t.Errorf("%s is shown: %s", text, shown)
		}
		for _, secret := range []func(string) bool{isPassword, nil} {
			again, err := s.Redacted(secret).Encode()
			if err != nil {
				t.Fatal(err)
			}
			back, err := ParseIn(env, "again.yaml", again)
			switch {
			case err != nil && secret != nil && strings.Contains(err.Error(), "the environment variable SIXNINES_PASSWORD is not set"):
			case err != nil:
				t.Errorf("%s: %v\n%s", text, err, again)
			case back.Target.Options["password"] != want:
				t.Errorf("%s is read back as %q\n%s", text, back.Target.Options["password"], again)
			}
		}
	}
	for text, want := range map[string]string{
		"env:ABSENT":                        "--option password: the environment variable ABSENT is not set (set it, or write literal:env:ABSENT for that text)",
		"env:EMPTY":                         "the environment variable EMPTY is empty",
		"env:BAD":                           "the environment variable BAD is not UTF-8",
		"env:":                              "not the name of a variable",
		"env:a b":                           "not the name of a variable",
		"@":                                 "not the name of a file",
		"@" + filepath.Join(dir, "nothing"): "there is no file ",
		"@" + dir:                           "cannot be read",
		"@" + write("empty", "\n"):          "is empty",
		"@" + write("bytes", "a\xff"):       "no text in UTF-8",
		"@" + write("long", strings.Repeat("x", mostSecret+1)): "longer than 64 KiB",
		"@${ABSENT}": "the environment variable ABSENT is not set",
	} {
		s := &Scenario{}
		wantError(t, s.ApplyIn(env, Override{"target.options.password", text, "--option password"}), want)
	}
	// In files, of workloads and of settings that are secret by their names, too.
	s, err := ParseIn(env, "x.yaml", []byte("target: {settings: {requirepass: 'env:PW', hz: 'env:PW'}}\nworkloads:\n  a: {options: {password: 'env:PW'}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Target.Settings; got["requirepass"] != "hunter2" || got["hz"] != "env:PW" || s.Workloads[0].Options["password"] != "hunter2" {
		t.Errorf("%v, %v", got, s.Workloads[0].Options)
	}
	if text, err := s.Redacted(isPassword).Encode(); err != nil || strings.Contains(string(text), "hunter2") || strings.Count(string(text), "env:PW") != 3 {
		t.Errorf("%s, %v", text, err)
	}
	_, err = ParseIn(env, "x.yaml", []byte("target:\n  options: {password: 'env:ABSENT'}\n"))
	wantError(t, err, "x.yaml:2:23: the environment variable ABSENT is not set")
	// Whoever reads a result reads no file and no variable.
	record, err := FromRecord("r", []byte(`{"target": {"options": {"password": "@/nowhere"}}}`))
	if err != nil || record.Target.Options["password"] != "@/nowhere" {
		t.Errorf("%v, %v", record, err)
	}
	// What a program sets is what it is.
	made := &Scenario{Target: Target{Options: map[string]any{"password": "@file"}}}
	survives(t, made)
}

func TestSecrets(t *testing.T) {
	s := mustParse(t, `
target:
  url: nats://me:p%40ss@a:1,nats://tokentoken@b,nats://c?x=1&password=inquery
  options: {password: hunter2, user: me}
  settings: {requirepass: deep, hz: "10"}
workloads:
  a: {options: {password: other}}
`)
	got := s.Secrets(isPassword)
	slices.Sort(got)
	if want := []string{"deep", "hunter2", "inquery", "other", "p%40ss", "p@ss", "tokentoken"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if shown := s.Redacted(isPassword).Target.URL; shown != "nats://${SIXNINES_LOGIN}@a:1,nats://${SIXNINES_LOGIN}@b,nats://c?x=1&password=${SIXNINES_PASSWORD}" {
		t.Error(shown)
	}
}
