package wire

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// Credentials that have expired are refused before anything is connected, in words that show nothing of them.
func TestExpiredCredentials(t *testing.T) {
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := user.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		expires int64
		problem Problem
	}{"for ever": {0, Other}, "in an hour": {time.Now().Add(time.Hour).Unix(), Other}, "an hour ago": {time.Now().Add(-time.Hour).Unix(), Expired}} {
		c := jwt.NewUserClaims(public)
		c.Expires = tt.expires
		token, err := c.Encode(account)
		if err != nil {
			t.Fatal(err)
		}
		text, err := jwt.FormatUserConfig(token, seed)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "user.creds")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		l := Login{URL: "tls://h1", Creds: file}
		_, err = l.options()
		if (err == nil) != (tt.problem == Other) || err != nil && (Why(err) != tt.problem || strings.Contains(err.Error(), string(seed)) || strings.Contains(err.Error(), token)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
