package brokertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers"
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
	file := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o644); err != nil {
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
	serial := int64(0)
	issue := func(name string, usage x509.ExtKeyUsage, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		t.Helper()
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(err)
		serial++
		c := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
			KeyUsage: x509.KeyUsageDigitalSignature, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
		if parent == nil {
			c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
			parent, signer = c, key
		} else {
			c.ExtKeyUsage = []x509.ExtKeyUsage{usage}
		}
		der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
		must(err)
		c, err = x509.ParseCertificate(der)
		must(err)
		return c, key
	}
	private := func(name string, key *ecdsa.PrivateKey) string {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		must(err)
		return file(name, "PRIVATE KEY", der)
	}
	authority, signer := issue("sixnines test authority", 0, nil, nil)
	server, serverKey := issue("localhost", x509.ExtKeyUsageServerAuth, authority, signer)
	client, clientKey := issue("client", x509.ExtKeyUsageClientAuth, authority, signer)
	return Certificates{
		CA:         file("ca.pem", "CERTIFICATE", authority.Raw),
		ServerCert: file("server.pem", "CERTIFICATE", server.Raw), ServerKey: private("server-key.pem", serverKey),
		ClientCert: file("client.pem", "CERTIFICATE", client.Raw), ClientKey: private("client-key.pem", clientKey),
	}
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
