package scenario

import (
	"encoding/json"
	"strings"
	"testing"
)

// environment is what the tests of variables see.
func environment(name string) (string, bool) {
	value, ok := map[string]string{"HOST": "broker.example", "RATE": "20k/s", "N": "4", "YES": "true", "EMPTY": "",
		"PW": "hunter2", "DOLLAR": "a$$b${c", "ODD": "a@b/c", "BAD": "\xff"}[name]
	return value, ok
}

func TestVariables(t *testing.T) {
	tests := []struct {
		text string
		want func(s *Scenario) (got, want any)
	}{
		{"target: {url: 'nats://${HOST}:4222'}", func(s *Scenario) (any, any) { return s.Target.URL, "nats://broker.example:4222" }},
		{"target: {url: 'nats://me:${PW}@${HOST}'}", func(s *Scenario) (any, any) { return s.Target.URL, "nats://me:hunter2@broker.example" }},
		{"workload: {rate: '${RATE}'}", func(s *Scenario) (any, any) { return s.Workload.Rate, PerSecond(20_000) }},
		{"workload: {producers: '${N}'}", func(s *Scenario) (any, any) { return s.Workload.Producers, 4 }},
		{"workload:\n  producers: ${N}\n", func(s *Scenario) (any, any) { return s.Workload.Producers, 4 }},
		{"workload:\n  producers: ${ABSENT:-12}\n", func(s *Scenario) (any, any) { return s.Workload.Producers, 12 }},
		{"workload:\n  size: ${EMPTY:-1KiB}\n", func(s *Scenario) (any, any) { return s.Workload.Size, FixedSize(KiB) }},
		{"workload:\n  arrivals: ramp:1/s..${RATE}\n", func(s *Scenario) (any, any) { return s.Workload.Arrivals.To, PerSecond(20_000) }},
		{"record: {raw: '${YES}'}", func(s *Scenario) (any, any) { return s.Record.Raw, true }},
		{"description: '${EMPTY:-}'", func(s *Scenario) (any, any) { return s.Description, "" }},
		{"description: a ${N} b $ c $N $$ d", func(s *Scenario) (any, any) { return s.Description, "a 4 b $ c $N $$ d" }},
		{"description: $${N}, $$${N}", func(s *Scenario) (any, any) { return s.Description, "${N}, $${N}" }},
		{"description: $$PASSWORD", func(s *Scenario) (any, any) { return s.Description, "$PASSWORD" }},
		{"description: ${DOLLAR}", func(s *Scenario) (any, any) { return s.Description, "a$$b${c" }},
		{"target: {options: {password: '${PW}', deep: {list: ['${N}']}}}", func(s *Scenario) (any, any) {
			return s.Target.Options["password"].(string) + s.Target.Options["deep"].(map[string]any)["list"].([]any)[0].(string), "hunter24"
		}},
		{"target: {settings: {requirepass: '${PW}'}}", func(s *Scenario) (any, any) { return s.Target.Settings["requirepass"], "hunter2" }},
		{"objectives: ['rate >= ${ABSENT:-99%}']", func(s *Scenario) (any, any) { return s.Objectives[0].String(), "rate >= 99%" }},
	}
	for _, tt := range tests {
		s, err := ParseIn(environment, "x.yaml", []byte(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got, want := tt.want(s); got != want {
			t.Errorf("%s is %v, want %v", tt.text, got, want)
		}
	}
}

func TestVariableErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"workload:\n  rate: ${ABSENT}\n", "x.yaml:2:9: the environment variable ABSENT is not set (set it, or write ${ABSENT:-default})"},
		{"target:\n  options: {password: '${EMPTY}'}\n", "x.yaml:2:23: the environment variable EMPTY is empty"},
		{"target:\n  settings: {requirepass: '${ABSENT}'}\n", "x.yaml:2:27: the environment variable ABSENT is not set"},
		{"name: ${ABSENT", "x.yaml:1:7: the variable \"${ABSENT\" has no end"},
		{"name: ${A-B}", `"${A-B}" is not understood`},
		{"name: ${}", `"${}" is not understood`},
		{"name: ${A:-${B}}", `is not understood`},
		{"target: {options: {password: $PASSWORD}}", `x.yaml:1:30: its $ begins no valid variable (write ${NAME}`},
		{"target: {options: {password: 'pa${sword'}}", `its $ begins no valid variable`},
		{"name: $PASSWORD", `"$PASSWORD" is no variable without braces (write ${PASSWORD}, or $$PASSWORD for the text)`},
		{"target: {options: {'${N}': 1}}", `a variable in the key "${N}" (variables stand in values only)`},
		{"target:\n  url: nats://me:$PASSWORD@h", `x.yaml:2:8: "$PASSWORD" in the address is no variable without braces (write ${PASSWORD}, or %24PASSWORD for the text)`},
		{"target: {url: 'env:HOST'}", "env: and @ are not read in an address (write ${NAME}"},
		{"target: {url: '@file'}", "not read in an address"},
		{"target: {url: 'nats://me:${ODD}@h'}", "a variable of the login in target.url has a character that ends it"},
		{"name: ${BAD}", "the environment variable BAD is not UTF-8"},
		{"workload: {producers: '${PW}'}", `"hunter2" is not a whole number`},
	} {
		_, err := ParseIn(environment, "x.yaml", []byte(tt.text))
		wantError(t, err, tt.want)
	}
	s := &Scenario{}
	wantError(t, s.ApplyIn(environment, Override{"target.url", "nats://${ABSENT}", "--url"}), "--url: the environment variable ABSENT is not set")
	wantError(t, s.ApplyIn(environment, Override{"target.options.password", "${ABSENT}", "--option password"}), "--option password: the environment variable ABSENT is not set")
}

// What variables gave is not written down where it may be a secret, and what is
// written down is read back as the same.
func TestVariablesAreWrittenDown(t *testing.T) {
	const text = `
target:
  url: nats://me:${PW}@${HOST:-h,@}/?token=${PW}
  options: {password: '${PW}', nested: {key: 'x${PW}'}, list: ['${PW}'], acks: all, literal: '$${PW}', bare: '$$PW'}
  settings: {requirepass: '${PW:-hunter3}', other: '${PW}'}
  tls: {ca: '/run/${PW}/ca.pem'}
description: with ${PW}
workload: {rate: '${RATE}'}
`
	s, err := ParseIn(environment, "x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ApplyIn(environment, Override{Key: "target.options.token", Value: "t-${PW}"}); err != nil {
		t.Fatal(err)
	}
	s.Target.Options["changed"] = "hunter2 by a program"
	encoded, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(encoded), "hunter2"); got != 1 {
		t.Errorf("the password is written %d times, want the one that is no variable's:\n%s", got, encoded)
	}
	again, err := ParseIn(environment, "again.yaml", encoded)
	if err != nil {
		t.Fatalf("%v\n%s", err, encoded)
	}
	want, got := s.clone(), again.clone()
	want.Normalise()
	got.Normalise()
	if got.Target.URL != want.Target.URL || got.Description != want.Description || got.Target.TLS.CA != want.Target.TLS.CA ||
		got.Workload.Rate != want.Workload.Rate || got.Target.Settings["requirepass"] != "hunter2" {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for name, value := range want.Target.Options {
		a, _ := json.Marshal(value)
		if b, _ := json.Marshal(got.Target.Options[name]); string(a) != string(b) {
			t.Errorf("option %s is %s, want %s", name, b, a)
		}
	}
	if !strings.Contains(string(encoded), "rate: 20000/s") {
		t.Errorf("the load is not written as it became:\n%s", encoded)
	}

	delete(s.Target.Options, "changed")
	shown := s.Redacted(func(name string) bool { return name == "password" })
	for _, text := range []string{mustEncode(t, shown), shown.Target.URL, shown.Description} {
		if strings.Contains(text, "hunter") {
			t.Errorf("a secret is shown:\n%s", text)
		}
	}
	if s.Target.Options["password"] != "hunter2" || s.Target.Settings["requirepass"] != "hunter2" {
		t.Error("the scenario itself was changed")
	}
	_, err = ParseIn(environment, "shown.yaml", []byte(mustEncode(t, shown)))
	wantError(t, err, "SIXNINES_LOGIN is not set") // a part of the login is written out
}

// What is hidden cannot be taken for what it stands for.
func TestHiddenIsNoPassword(t *testing.T) {
	s := mustParse(t, `
target:
  url: nats://bob:hunter2@a,token@b
  options: {password: hunter2, secret.number: 5, mixed: a}
  settings: {requirepass: hunter2}
`)
	shown := s.Redacted(func(name string) bool { return name == "password" || name == "secret.number" })
	text := mustEncode(t, shown)
	if strings.Contains(text, "hunter") || strings.Contains(text, "token@") {
		t.Errorf("a secret is shown:\n%s", text)
	}
	none := func(string) (string, bool) { return "", false }
	_, err := ParseIn(none, "shown.yaml", []byte(text))
	for _, name := range []string{"SIXNINES_PASSWORD", "SIXNINES_LOGIN", "SIXNINES_REQUIREPASS", "SIXNINES_SECRET_NUMBER"} {
		wantError(t, err, "the environment variable "+name+" is not set")
	}
	object, err := shown.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromRecord("record", object); err != nil {
		t.Errorf("a record is not read: %v", err)
	}
}

func mustEncode(t *testing.T, s *Scenario) string {
	t.Helper()
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
