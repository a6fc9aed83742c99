// Package selfsigned makes certificates for servers and clients that Sixnines starts itself: signed by themselves, or by
// an authority of their own.
package selfsigned

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"time"
)

// Certificate returns a certificate and its private key, both PEM. It is valid for a year, for a server of these hosts
// (names and IP addresses), or for a client if hosts is empty. name is its subject.
func Certificate(name string, hosts ...string) (public, private []byte, err error) {
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	serve(template, hosts)
	der, key, err := sign(template, template, nil)
	if err != nil {
		return nil, nil, err
	}
	return encode(der, key)
}

// serve makes it a certificate of a server of the hosts, or of a client without hosts.
func serve(template *x509.Certificate, hosts []string) {
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	for _, h := range hosts {
		template.ExtKeyUsage[0] = x509.ExtKeyUsageServerAuth
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
}
