package rabbitmqstream_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sixnines/driver"
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
			o := newOutcomes()
			s, err := rabbitmqstream.Entry().Driver.Open(t.Context(), driver.Target{URL: tt.url, Run: "test", Options: tt.options, TLS: tt.tls})
			if tt.class != nil {
				if !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.hint) {
					t.Errorf("open: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(t.Context())
			semantics, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Consumers: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Deprovision(context.WithoutCancel(t.Context()))
			if !strings.HasPrefix(semantics.Transport, "tcp, tls") {
				t.Errorf("transport %q", semantics.Transport)
			}
			if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, o.deliver); err != nil {
				t.Fatal(err)
			}
			p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 10 {
				if err := p.Send(uint64(i), []byte{byte(i)}); err != nil {
					t.Fatal(err)
				}
			}
			o.until(t, "all is delivered", func() bool { return len(o.payloads) == 10 && len(o.errs) == 10 }, nothing)
		})
	}
}
