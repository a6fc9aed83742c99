package rabbitmqstream_test

import (
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/rabbitmqstream"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

func TestLogin(t *testing.T) {
	if testing.Short() {
		t.Skip("another broker takes a while")
	}
	certificates := brokertest.NewCertificates(t)
	c := brokertest.Start(t, "rabbitmq", brokers.Options{TLS: certificates.Server(true), User: user, Password: password})
	url := c.URLFor("rabbitmq-stream")
	for _, tt := range []struct {
		name    string
		url     string
		tls     *driver.TLS
		options map[string]any
		class   error
		hint    string
	}{
		{"password", url, certificates.Client(true), with(nil), nil, ""},
		{"wrong password", url, certificates.Client(true), with(map[string]any{"password": "byron"}), driver.ErrUnauthorized, "check user"},
		{"no virtual host", url, certificates.Client(true), with(map[string]any{"vhost": "none"}), driver.ErrUnauthorized, "virtual host"},
		{"no certificate", url, certificates.Client(false), with(nil), driver.ErrNotConnected, "client certificate"},
		{"unknown authority", url, &driver.TLS{}, with(nil), driver.ErrNotConnected, "tls.ca"},
		{"without TLS", strings.Replace(url, "+tls", "", 1), nil, with(nil), driver.ErrNotConnected, "+tls"},
		{"no certificate to log in with", url, certificates.Client(false), map[string]any{"login": "external"}, driver.ErrOption, "tls.cert"},
		{"compression of nothing", url, certificates.Client(true), map[string]any{"compression": "gzip"}, driver.ErrOption, "sub_entry_size"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := driver.Target{URL: tt.url, Options: tt.options, TLS: tt.tls}
			if tt.class != nil {
				sessiontest.Refused(t, rabbitmqstream.Entry().Driver, target, tt.class, tt.hint)
			} else if semantics := sessiontest.Works(t, rabbitmqstream.Entry().Driver, target); !strings.HasPrefix(semantics.Transport, "tcp, tls") {
				t.Errorf("transport %q", semantics.Transport)
			}
		})
	}
}
