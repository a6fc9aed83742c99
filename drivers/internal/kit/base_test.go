package kit

import (
	"errors"
	"testing"

	"sixnines/driver"
)

func TestLoginsOfURLAndOptions(t *testing.T) {
	for _, tt := range []struct{ login, user, secret, wantUser, wantSecret, wrong string }{
		{login: "", user: "", secret: ""},
		{login: "", user: "bob", secret: "pw", wantUser: "bob", wantSecret: "pw"},
		{login: "ada", wantUser: "ada"},
		{login: "ada:love", wantUser: "ada", wantSecret: "love"},
		{login: ":love", wantSecret: "love"},
		{login: "ada", secret: "pw", wantUser: "ada", wantSecret: "pw"},
		{login: "ada:love", secret: "pw", wantUser: "ada", wantSecret: "pw"},
		{login: ":love", user: "bob", wantUser: "bob", wantSecret: "love"},
		{login: ":love", secret: "pw", wantSecret: "pw"},
		{login: "ada:love", user: "ada", wantUser: "ada", wantSecret: "love"},
		{login: "ada:love", user: "bob", secret: "pw", wantUser: "bob", wantSecret: "pw"},
		{login: "ada", user: "bob", wantUser: "bob"},
		{login: "ada:love", user: "bob", wrong: "user"},
	} {
		url := "test://" + tt.login + "@host"
		if tt.login == "" {
			url = "test://host"
		}
		b, err := NewBase(&Errors{Driver: "test"}, driver.Target{URL: url}, tt.user, tt.secret, Scheme{Name: "test", Port: "1"})
		var wrong *driver.OptionError
		switch {
		case errors.As(err, &wrong):
			if wrong.Option != tt.wrong {
				t.Errorf("%+v: %v", tt, err)
			}
		case err != nil || tt.wrong != "" || b.User != tt.wantUser || b.Secret != tt.wantSecret:
			t.Errorf("%+v: %+v, %v", tt, b, err)
		}
		if b != nil && (b.NeedsUser() == nil) != (b.User != "" || b.Secret == "") {
			t.Errorf("%+v: %v", tt, b.NeedsUser())
		}
	}
}
