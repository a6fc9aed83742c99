package brokers

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// ownCertificate makes a self-signed certificate for a part of a broker that is a
// client of another part which asks for certificates. trusted is a file with the
// authorities of the file ca and this certificate. All files are in dir.
func ownCertificate(dir, ca string) (cert, key, trusted string, err error) {
	authorities, err := os.ReadFile(ca)
	if err != nil {
		return "", "", "", err
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", "", err
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "sixnines broker"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return "", "", "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", "", err
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for _, f := range []struct {
		path *string
		name string
		text []byte
	}{
		{&cert, "own.pem", public},
		{&key, "own-key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})},
		{&trusted, "trusted.pem", bytes.Join([][]byte{bytes.TrimSpace(authorities), public}, []byte("\n"))},
	} {
		*f.path = filepath.Join(dir, f.name)
		if err := os.WriteFile(*f.path, f.text, 0o600); err != nil {
			return "", "", "", err
		}
	}
	return cert, key, trusted, nil
}
