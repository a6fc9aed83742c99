package nanomsg

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"sixnines/driver"
)

// Options are the options of the drivers, see driver.DecodeOptions.
type Options struct {
	Bind       string        `option:"bind" enum:"natural,producers,consumers" doc:"which side's sockets bind, the others connect to all of them; natural: publishers, pushers and responders bind"`
	Sockets    string        `option:"sockets" enum:"direct,library" doc:"direct: protocols of our own on the library's connections, which write on the sender's thread, deliver where they read, and drop nothing; library: the library's, with their queues and goroutines"`
	Queue      int           `option:"queue" doc:"sockets=library: messages that each of its queues holds; a publisher drops what does not fit, a subscriber the oldest" min:"1" max:"16777216"`
	KeepAlive  time.Duration `option:"keepalive" doc:"TCP keepalive after this long without traffic; 0: Go's default, 15s" min:"0s"`
	Reconnect  time.Duration `option:"reconnect" doc:"pause before a connection that was lost is made again" min:"1ms"`
	ServerCert string        `option:"server_cert" names:"file" doc:"tls+tcp: PEM file of the certificate that the side that binds shows; absent: that of target.tls"`
	ServerKey  string        `option:"server_key" names:"file" doc:"tls+tcp: PEM file of its key"`
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{Bind: "natural", Sockets: "direct", Queue: 128, Reconnect: 100 * time.Millisecond}
}

func (o Options) direct() bool { return o.Sockets == "direct" }

// secrets are the two sides' configurations of TLS.
type secrets struct{ server, client *tls.Config }

// tls reads the files of both sides. Who shows a certificate as a client is
// asked for it as well.
func (o Options) tls(t *driver.TLS, host string) (*secrets, error) {
	client, err := t.Config(host)
	if err != nil {
		return nil, fmt.Errorf("nanomsg: %w", err)
	}
	bound := driver.TLS{CA: t.CA, Cert: o.ServerCert, Key: o.ServerKey}
	if bound.Cert == "" && bound.Key == "" {
		bound.Cert, bound.Key = t.Cert, t.Key
	}
	if bound.Cert == "" {
		return nil, fmt.Errorf("nanomsg: %w: tls: the side that binds has no certificate; name one by the options server_cert and server_key, or by tls.cert and tls.key for both sides", driver.ErrOption)
	}
	server, err := bound.Config("")
	if err != nil {
		return nil, fmt.Errorf("nanomsg: %w", err)
	}
	server.ClientCAs = server.RootCAs
	if t.Cert != "" {
		server.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return &secrets{server, client}, nil
}

// refused reports whether a connection failed for a certificate.
func refused(err error) bool {
	var verification *tls.CertificateVerificationError
	var alert tls.AlertError
	return errors.As(err, &verification) || errors.As(err, &alert)
}
