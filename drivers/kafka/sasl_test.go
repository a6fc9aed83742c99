package kafka

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/driver"
)

// The access key of AWS is read from its profile, each time.
func TestAWSFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("[default]\naws_access_key_id = A\naws_secret_access_key=B\n\n[ bench ]\naws_access_key_id=C\naws_secret_access_key = D=E\naws_session_token=F\n[empty]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for profile, want := range map[string][3]string{"default": {"A", "B", ""}, "bench": {"C", "D=E", "F"}} {
		if a, err := awsKey(file, profile); err != nil || [3]string{a.AccessKey, a.SecretKey, a.SessionToken} != want {
			t.Errorf("%s: %v, want %v", profile, err, want)
		}
	}
	for _, c := range [][2]string{{file, "empty"}, {file, "other"}, {file + ".no", "default"}} {
		if _, err := awsKey(c[0], c[1]); !errors.Is(err, driver.ErrUnauthorized) {
			t.Errorf("%q: %v", c, err)
		}
	}
}

func TestSASLOptions(t *testing.T) {
	for _, tt := range []struct {
		options map[string]any
		says    string // empty: they go together
	}{
		{map[string]any{"token_file": "f"}, "a token needs sasl oauthbearer"},
		{map[string]any{"sasl": "oauthbearer"}, "token_file"},
		{map[string]any{"sasl": "oauthbearer", "token_url": "https://h/t"}, "it needs user"},
		{map[string]any{"sasl": "oauthbearer", "token_url": "https://h/t", "user": "u", "password": "p"}, ""},
		{map[string]any{"sasl": "aws-msk-iam"}, "needs user"},
		{map[string]any{"sasl": "aws-msk-iam", "user": "A", "password": "p", "session_token": "s"}, ""},
		{map[string]any{"sasl": "aws-msk-iam", "aws_file": "f", "aws_profile": "bench"}, ""},
		{map[string]any{"sasl": "aws-msk-iam", "aws_file": "f", "user": "u"}, "leave user"},
		{map[string]any{"sasl": "plain", "aws_file": "f"}, "need sasl aws-msk-iam"},
	} {
		o := DefaultOptions()
		err := driver.DecodeOptions(tt.options, &o)
		if err == nil {
			err = o.Validate()
		}
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v: %v, want %q", tt.options, err, tt.says)
		}
	}
}
