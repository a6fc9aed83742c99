package pulsar_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/pulsar"
	"sixnines/internal/brokers/brokertest"
)

// listen accepts connections for the test. greet is called with each.
func listen(t *testing.T, config *tls.Config, greet func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		l = tls.NewListener(l, config)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			go greet(c)
		}
	}()
	return l.Addr().String()
}

// Why there is no connection the client writes to its log only.
func TestOpenSaysWhy(t *testing.T) {
	files := brokertest.NewCertificates(t)
	pair, err := tls.LoadX509KeyPair(files.ServerCert, files.ServerKey)
	if err != nil {
		t.Fatal(err)
	}
	encrypted := listen(t, &tls.Config{Certificates: []tls.Certificate{pair}}, func(c net.Conn) { c.(*tls.Conn).Handshake() })
	plain := listen(t, nil, func(c net.Conn) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) })
	gone := listen(t, nil, func(c net.Conn) { c.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	other := *files.Client(false)
	other.ServerName = "elsewhere.example"
	for _, tt := range []struct {
		name, address string
		tls           *driver.TLS
		hint          string
	}{
		{"nobody listens", l.Addr().String(), nil, "refused"},
		{"several, and nobody listens", l.Addr().String() + "," + l.Addr().String(), nil, "refused"},
		{"it hangs up", gone, nil, "pulsar+ssl"},
		{"no TLS", plain, files.Client(false), "does not speak TLS"},
		{"unknown authority", encrypted, &driver.TLS{}, "tls.ca"},
		{"another name", encrypted, &other, "tls.server_name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sessiontest.Refused(t, pulsar.Entry().Driver, driver.Target{URL: "pulsar://" + tt.address + "/?http=127.0.0.1:9", TLS: tt.tls}, driver.ErrNotConnected, tt.hint)
		})
	}
}

// The client waits for a server that never speaks; Open does not.
func TestOpenHeedsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	address := listen(t, nil, func(net.Conn) { cancel() })
	_, err := pulsar.Entry().Driver.Open(ctx, driver.Target{URL: "pulsar://" + address + "/?http=127.0.0.1:9", Run: "test"})
	if !errors.Is(err, driver.ErrNotConnected) || !errors.Is(err, context.Canceled) {
		t.Errorf("Open says %v", err)
	}
}
