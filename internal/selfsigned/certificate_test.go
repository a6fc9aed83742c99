package selfsigned

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
)

func TestCertificatesAreTheirOwnAuthority(t *testing.T) {
	public, private, err := Certificate("a server", "h1.example", "10.0.0.1", "::1")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(public, private)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(public)
	for host, good := range map[string]bool{"h1.example": true, "10.0.0.1": true, "::1": true, "h2.example": false, "10.0.0.2": false} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); (err == nil) != good {
			t.Errorf("%s: %v", host, err)
		}
	}
	public, _, err = Certificate("a client")
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(public)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots}); err == nil {
		t.Error("the authority of another certificate is taken")
	}
}
