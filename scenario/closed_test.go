package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClosedTextsReadNoFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) (string, bool) { return "of-" + name, true }
	for _, tt := range []struct {
		text string
		file bool
	}{
		{"target: {options: {token: \"@" + file + "\"}}", true},
		{"target: {settings: {password: \"@" + file + "\"}}", true},
		{"workloads: {a: {options: {token: \"@" + file + "\"}}}", true},
		{"target: {options: {token: \"@/no/such/file\"}}", true},
		{"target: {options: {token: \"literal:@" + file + "\"}}", false},
		{"target: {options: {token: \"env:A\", user: \"${B}\"}}", false},
	} {
		s, err := ParseClosed(env, "text", []byte(tt.text))
		if errors.Is(err, ErrFile) != tt.file || (err != nil) != tt.file || (s == nil) != tt.file {
			t.Errorf("%s: %v", tt.text, err)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || errors.As(err, new(Errors)) == false) {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
	if _, err := ParseClosed(env, "text", []byte("nonsense: 1")); err == nil || errors.Is(err, ErrFile) {
		t.Error(err)
	}
}
