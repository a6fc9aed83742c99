package selfsigned

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"
)

// Authority signs certificates. It is not safe for concurrent use.
type Authority struct {
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	serial int64
}

// NewAuthority makes an authority with the name, which is valid for a year.
func NewAuthority(name string) (*Authority, error) {
	a := &Authority{}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, key, err := sign(template, template, nil)
	if err != nil {
		return nil, err
	}
	a.cert, err = x509.ParseCertificate(der)
	a.key = key
	return a, err
}

// PEM returns the authority's certificate.
func (a *Authority) PEM() []byte { return certificatePEM(a.cert.Raw) }

// Subject says whose certificate an authority signs.
type Subject struct {
	Name  string
	Hosts []string // of a server: names and IP addresses; empty: a client
	// NotBefore and NotAfter say when it is valid; zero: from an hour ago, for a year.
	NotBefore, NotAfter time.Time
}

// Issue returns a certificate and its private key (PKCS #8), both PEM.
func (a *Authority) Issue(s Subject) (public, private []byte, err error) {
	a.serial++
	now := time.Now()
	if s.NotBefore.IsZero() {
		s.NotBefore = now.Add(-time.Hour)
	}
	if s.NotAfter.IsZero() {
		s.NotAfter = now.AddDate(1, 0, 0)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: s.Name}, NotBefore: s.NotBefore, NotAfter: s.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature}
	serve(template, s.Hosts)
	der, key, err := sign(template, a.cert, a.key)
	if err != nil {
		return nil, nil, err
	}
	return encode(der, key)
}

// sign makes a key and a certificate for it, signed by that of the parent; nil: by itself.
func sign(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (der []byte, key *ecdsa.PrivateKey, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}
	if signer == nil {
		signer = key
	}
	der, err = x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	return der, key, err
}

func encode(der []byte, key *ecdsa.PrivateKey) (public, private []byte, err error) {
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return certificatePEM(der), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
