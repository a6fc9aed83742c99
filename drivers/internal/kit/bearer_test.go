package kit

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
)

// A token of a file is read for each login; one of a service is asked for once, and again when most of its life is over.
func TestBearerTokensAreRenewed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	b := (&BearerOptions{TokenFile: file}).Bearer("", "", time.Minute)
	for _, want := range []string{"first", "second"} {
		if err := os.WriteFile(file, []byte(want+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Token(t.Context()); got != want || err != nil {
			t.Errorf("token %q, %v, want %q", got, err, want)
		}
	}

	asked, lasts := 0, 3600
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		id, secret, _ := r.BasicAuth()
		if id != "a%2Fb" || secret != "p%26w" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "s" || r.FormValue("audience") != "au" {
			t.Errorf("asked by %q, %q with %v", id, secret, r.Form)
		}
		json.NewEncoder(w).Encode(map[string]any{"access_token": "t", "expires_in": lasts})
	}))
	defer s.Close()
	b = (&BearerOptions{TokenURL: s.URL, TokenScope: "s", TokenAudience: "au"}).Bearer("a/b", "p&w", time.Minute)
	for i, want := range []int{1, 1, 2, 3} {
		if i == 2 {
			b.renew = time.Now() // most of its life is over
			lasts = 0            // the service says nothing of the next one's
		}
		if got, err := b.Token(t.Context()); got != "t" || err != nil || asked != want {
			t.Errorf("login %d: token %q, %v, asked %d times, want %d", i, got, err, asked, want)
		}
	}
}

func TestBearerFails(t *testing.T) {
	answer := func(status int, text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(status)
			w.Write([]byte(text))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	for _, tt := range []struct {
		name  string
		from  BearerOptions
		class error
		says  string
	}{
		{"no file", BearerOptions{TokenFile: filepath.Join(t.TempDir(), "no")}, driver.ErrUnauthorized, "no such file"},
		{"an empty file", BearerOptions{TokenFile: os.DevNull}, driver.ErrUnauthorized, "is empty"},
		{"nobody there", BearerOptions{TokenURL: "http://127.0.0.1:1/token"}, driver.ErrNotConnected, "refused"},
		{"refused", BearerOptions{TokenURL: answer(401, `{"error":"invalid_client"}`)}, driver.ErrUnauthorized, "invalid_client"},
		{"refused without a word", BearerOptions{TokenURL: answer(403, ``)}, driver.ErrUnauthorized, "403"},
		{"sent on", BearerOptions{TokenURL: answer(307, ``)}, driver.ErrUnauthorized, "307"},
		{"something else", BearerOptions{TokenURL: answer(200, `<html>`)}, driver.ErrUnauthorized, "no token"},
	} {
		_, err := tt.from.Bearer("id", "classified", time.Minute).Token(t.Context())
		if !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "classified") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	e := &Errors{Driver: "test"}
	for _, tt := range []struct {
		from   BearerOptions
		client string
		says   string
	}{
		{BearerOptions{TokenScope: "s"}, "id", "token_file"},
		{BearerOptions{TokenFile: "f", TokenURL: "https://h"}, "id", "leave one of them out"},
		{BearerOptions{TokenURL: "https://h"}, "", "it needs user"},
		{BearerOptions{TokenURL: "h"}, "id", "no address"},
		{BearerOptions{TokenURL: "http://h.example/token"}, "id", "unencrypted"},
	} {
		if err := tt.from.Bearer(tt.client, "classified", 0).Check(e, "user", "password"); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v", tt.from, err)
		}
	}
	for _, from := range []BearerOptions{{TokenFile: "f"}, {TokenURL: "http://127.0.0.1:1"}, {TokenURL: "https://h/token"}} {
		if err := from.Bearer("id", "classified", 0).Check(e, "user", "password"); err != nil {
			t.Errorf("%+v: %v", from, err)
		}
	}
}
