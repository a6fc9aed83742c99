package driver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
)

// keyPair writes a self-signed certificate and its key.
func keyPair(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{name}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(file, kind string, der []byte) string {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write(name+".pem", "CERTIFICATE", der), write(name+".key", "PRIVATE KEY", secret)
}

func TestTLSConfig(t *testing.T) {
	dir := t.TempDir()
	cert, key := keyPair(t, dir, "one")
	c, err := (&driver.TLS{CA: cert, Cert: cert, Key: key}).Config("broker.example")
	if err != nil {
		t.Fatal(err)
	}
	if c.MinVersion != tls.VersionTLS12 || c.ServerName != "broker.example" || c.RootCAs == nil || len(c.Certificates) != 1 || c.InsecureSkipVerify {
		t.Errorf("got %+v", c)
	}
	c, err = (&driver.TLS{ServerName: "other.example", InsecureSkipVerify: true}).Config("broker.example")
	if err != nil {
		t.Fatal(err)
	}
	if c.ServerName != "other.example" || c.RootCAs != nil || len(c.Certificates) != 0 || !c.InsecureSkipVerify {
		t.Errorf("got %+v", c)
	}
	if c, err := (*driver.TLS)(nil).Config(""); err != nil || c.ServerName != "" || c.MinVersion != tls.VersionTLS12 {
		t.Errorf("nil: %+v, %v", c, err)
	}
}

func TestTLSConfigRefuses(t *testing.T) {
	dir := t.TempDir()
	cert, key := keyPair(t, dir, "one")
	_, otherKey := keyPair(t, dir, "two")
	absent := filepath.Join(dir, "absent.pem")
	for name, test := range map[string]struct {
		tls   driver.TLS
		words []string
	}{
		"no CA file":      {driver.TLS{CA: absent}, []string{absent, "authority"}},
		"CA is a key":     {driver.TLS{CA: key}, []string{key, "BEGIN CERTIFICATE"}},
		"cert alone":      {driver.TLS{Cert: cert}, []string{cert, "needs tls.key"}},
		"key alone":       {driver.TLS{Key: key}, []string{key, "needs tls.cert"}},
		"no cert file":    {driver.TLS{Cert: absent, Key: key}, []string{absent, "check the path"}},
		"key of another":  {driver.TLS{Cert: cert, Key: otherKey}, []string{cert, otherKey, "belong together"}},
		"cert is no cert": {driver.TLS{Cert: key, Key: key}, []string{key, "PEM"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.tls.Config("h")
			if !errors.Is(err, driver.ErrOption) {
				t.Fatalf("error %v does not wrap ErrOption", err)
			}
			for _, words := range test.words {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("error %q does not say %q", err, words)
				}
			}
		})
	}
}
