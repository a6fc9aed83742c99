package brokertest

import (
	"os"
	"path/filepath"
	"testing"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/selfsigned"
)

// Certificates are the PEM files of a test authority, of a server on loopback and
// of a client. Keys are PKCS #8, which Java reads, too. All users can read the
// files, because some brokers run as a user of their own.
type Certificates struct {
	CA, ServerCert, ServerKey, ClientCert, ClientKey string
}

// NewCertificates makes them below the test's temporary directory.
func NewCertificates(t testing.TB) Certificates {
	t.Helper()
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	authority, err := selfsigned.NewAuthority("sixnines test authority")
	must(err)
	pair := func(name string, hosts ...string) (cert, key string) {
		t.Helper()
		public, private, err := authority.Issue(selfsigned.Subject{Name: name, Hosts: hosts})
		must(err)
		return file(name+".pem", public), file(name+"-key.pem", private)
	}
	c := Certificates{CA: file("ca.pem", authority.PEM())}
	c.ServerCert, c.ServerKey = pair("localhost", "localhost", "127.0.0.1")
	c.ClientCert, c.ClientKey = pair("client")
	return c
}

// Server returns the server's side; with clients set it asks for certificates.
func (c Certificates) Server(clients bool) *brokers.ServerTLS {
	s := &brokers.ServerTLS{Cert: c.ServerCert, Key: c.ServerKey}
	if clients {
		s.CA = c.CA
	}
	return s
}

// Client returns the client's side; with certificate set it shows one.
func (c Certificates) Client(certificate bool) *driver.TLS {
	t := &driver.TLS{CA: c.CA}
	if certificate {
		t.Cert, t.Key = c.ClientCert, c.ClientKey
	}
	return t
}
