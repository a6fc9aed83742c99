package driver

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// Config reads the files that t names and returns a new configuration for a
// client of host, TLS 1.2 or later. If t.ServerName is empty, the certificate
// must be valid for host; if host is empty too, the client library has to fill in
// ServerName. A nil t means TLS with the system's authorities and no client
// certificate.
//
// Errors wrap [ErrOption], name the file and say what to do.
func (t *TLS) Config(host string) (*tls.Config, error) {
	if t == nil {
		t = &TLS{}
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipVerify}
	if c.ServerName == "" {
		c.ServerName = host
	}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls: read the authority's certificate: %w: %w", ErrOption, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls: %w: no certificate in %s: tls.ca wants a PEM file with a block BEGIN CERTIFICATE", ErrOption, t.CA)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		given, missing := "tls.cert "+t.Cert, "tls.key"
		if t.Cert == "" {
			given, missing = "tls.key "+t.Key, "tls.cert"
		}
		return nil, fmt.Errorf("tls: %w: %s needs %s beside it", ErrOption, given, missing)
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			if encryptedKey(t.Key) {
				return nil, fmt.Errorf("tls: %w: the key in %s is encrypted with a password; write it without one to a file that only you can read: (umask 077; openssl pkey -in %s -out FILE)", ErrOption, t.Key, t.Key)
			}
			hint := "tls.cert and tls.key want PEM files that belong together"
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
				hint = "check the path and its permissions"
			}
			return nil, fmt.Errorf("tls: client certificate %s with key %s: %w: %w; %s", t.Cert, t.Key, ErrOption, err, hint)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// encryptedKey reports whether a PEM file has a private key that only a password opens.
func encryptedKey(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "" {
			return true
		}
	}
	return false
}
