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
		"pulsar://host/?https=c", "pulsar://host/?http=ftp://c"} {
		if _, err := newSession(driver.Target{URL: url, Run: "r"}, DefaultOptions()); !errors.Is(err, driver.ErrOption) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestOptionsThatContradict(t *testing.T) {
	for _, options := range []map[string]any{
		{"namespace": "public"}, {"namespace": "public/default/x"}, {"compression": "gzip"},
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
