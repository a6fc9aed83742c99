package driver

import (
	"crypto/tls"
	"crypto/x509"
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
	if t.KeyPassword != "" && t.Key == "" {
		return nil, fmt.Errorf("tls: %w: tls.key_password needs tls.key beside it", ErrOption)
	}
	if t.Cert != "" {
		pair, err := t.pair()
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// pair reads the client's certificate and key.
func (t *TLS) pair() (tls.Certificate, error) {
	cert, err := os.ReadFile(t.Cert)
	var key []byte
	encrypted := false
	if err == nil {
		key, encrypted, err = readKey(t.Key, t.KeyPassword)
	}
	switch {
	case encrypted && t.KeyPassword == "":
		return tls.Certificate{}, fmt.Errorf("tls: %w: the key in %s is encrypted: give its password in tls.key_password", ErrOption, t.Key)
	case encrypted && err != nil:
		return tls.Certificate{}, fmt.Errorf("tls: %w: the key in %s is encrypted: %w", ErrOption, t.Key, err)
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.X509KeyPair(cert, key)
	}
	if err != nil {
		hint := "tls.cert and tls.key want PEM files that belong together"
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
			hint = "check the path and its permissions"
		}
		return tls.Certificate{}, fmt.Errorf("tls: client certificate %s with key %s: %w: %w; %s", t.Cert, t.Key, ErrOption, err, hint)
	}
	return pair, nil
}
