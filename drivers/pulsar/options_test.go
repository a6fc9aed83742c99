package pulsar

import (
	"errors"
	"strings"
	"testing"

	"sixnines/driver"
)

func TestURL(t *testing.T) {
	for _, tt := range []struct{ url, option, servers, web string }{
		{"pulsar://host", "", "host:6650", "http://host:8080"},
		{"host:6650", "", "host:6650", "http://host:8080"},
		{"pulsar+ssl://host", "", "host:6651", "https://host:8443"},
		{"pulsar://a:6650,b:6650/?http=c:80", "", "a:6650,b:6650", "http://c:80"},
		{"pulsar+ssl://a:1,b:2/?http=https://c:80/", "", "a:1,b:2", "https://c:80"},
		{"pulsar://[::1]:7/?http=c:80", "d:90", "[::1]:7", "http://d:90"},
	} {
		s, err := newSession(driver.Target{URL: tt.url, Run: "r"}, Options{Namespace: "public/default", HTTPURL: tt.option})
		if err != nil {
			t.Errorf("%s: %v", tt.url, err)
		} else if s.Address.String() != tt.servers || s.web != tt.web {
			t.Errorf("%s: %s, %s", tt.url, &s.Address, s.web)
		}
	}
	for _, url := range []string{"http://host", "pulsar://", "pulsar://host:7", "pulsar://me:hunter2@host", "pulsar://me:hunter2@host:port",
		"pulsar://host/?https=c", "pulsar://host/?http=ftp://c", "pulsar://host/?http=http://me:hunter2@c", "pulsar://host/?http=c:hunter2"} {
		if _, err := newSession(driver.Target{URL: url, Run: "r"}, DefaultOptions()); !errors.Is(err, driver.ErrOption) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestTokenStaysEncrypted has the web service of brokers with encryption be encrypted,
// whichever way that is asked for.
func TestTokenStaysEncrypted(t *testing.T) {
	encrypted := &driver.TLS{InsecureSkipVerify: true}
	for _, tt := range []struct {
		url, option string
		tls         *driver.TLS
		web         string // empty: refused
	}{
		{"pulsar://host", "", nil, "http://host:8080"},
		{"pulsar+ssl://host", "", nil, "https://host:8443"},
		{"pulsar://host", "", encrypted, "https://host:8443"},
		{"pulsar+ssl://host:6650", "", nil, "https://host:8443"},
		{"pulsar+ssl://host/?http=c:80", "", nil, "https://c:80"},
		{"pulsar://host", "c:80", encrypted, "https://c:80"},
		{"pulsar+ssl://host/?http=http://c:80", "", nil, ""},
		{"pulsar+ssl://host", "http://c:80", nil, ""},
		{"pulsar://host", "http://c:80", encrypted, ""},
		{"pulsar://a,pulsar+ssl://b", "http://c:80", nil, ""},
	} {
		o := Options{Namespace: "public/default", HTTPURL: tt.option, Token: "hunter2"}
		s, err := newSession(driver.Target{URL: tt.url, Run: "r", TLS: tt.tls}, o)
		var wrong *driver.OptionError
		switch {
		case tt.web == "":
			if !errors.As(err, &wrong) || wrong.Option != "http_url" || !strings.Contains(wrong.Cause, "unencrypted") {
				t.Errorf("%s, %q: %v", tt.url, tt.option, err)
			}
			o.Token = "" // who shows nothing may ask where it likes
			if _, err := newSession(driver.Target{URL: tt.url, Run: "r", TLS: tt.tls}, o); err != nil {
				t.Errorf("%s, %q, no token: %v", tt.url, tt.option, err)
			}
		case err != nil || s.web != tt.web:
			t.Errorf("%s, %q: %v, %v, want %s", tt.url, tt.option, s, err, tt.web)
		}
	}
}

func TestOptionsThatContradict(t *testing.T) {
	for _, options := range []map[string]any{
		{"namespace": "public"}, {"namespace": "public/default/x"}, {"compression": "gzip"},
		{"token": "t", "token_file": "f"}, {"client_id": "c", "client_secret": "s"}, {"token_url": "https://h/t"},
	} {
		o := DefaultOptions()
		err := driver.DecodeOptions(options, &o)
		if err == nil {
			err = o.Validate()
		}
		if !errors.Is(err, driver.ErrOption) {
			t.Errorf("%v: %v", options, err)
		}
	}
}
