package scenario

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// What travels to another machine is read there as it is here, with nothing of this one's environment, and shows no
// secret.
func TestPortable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("hunter2file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"HOST": "h1", "PW": "hunter2 ${X} $$Y", "CA": "/etc/ca.pem"}[name]
		return v, ok
	}
	isSecret := func(option string) bool { return option == "token" || option == "password" }
	for _, text := range []string{
		"{}",
		"target: {driver: nats, url: \"nats://${HOST}:4222\", options: {token: hunter2, user: \"$${HOST}\"}}",
		"target: {driver: nats, url: \"nats://me:hunter2@h1:4222\", options: {password: \"@" + file + "\", creds: \"${CA}\"}}",
		"target: {driver: nats, url: \"nats://h1:4222?token=hunter2\", tls: {ca: \"${CA}\"}, options: {a: {b: [\"${HOST}\", c]}, token: \"env:PW\"}}",
		"{description: \"of ${HOST}\", workloads: {a: {options: {token: \"${PW}\", x: 1}}, b: {options: {token: \"\"}}}}",
	} {
		s, err := ParseIn(env, "text", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		s.Normalise()
		sent, values, err := s.Portable(isSecret)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if bytes.Contains(sent, []byte("hunter2")) {
			t.Errorf("%s shows a secret:\n%s", text, sent)
		}
		there, err := ParseClosed(func(name string) (string, bool) { v, ok := values[name]; return v, ok }, "sent", sent)
		if err != nil {
			t.Errorf("%s: %v:\n%s", text, err, sent)
			continue
		}
		there.Normalise()
		here, err := json.Marshal(plain(s))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(plain(there)); err != nil || !bytes.Equal(got, here) {
			t.Errorf("%s is read there as\n%s, %v\nand here as\n%s\nof\n%s", text, got, err, here, sent)
		}
	}
}

// plain is a scenario that does not know what came from where.
func plain(s *Scenario) *Scenario {
	c := *s
	c.source = nil
	return &c
}
