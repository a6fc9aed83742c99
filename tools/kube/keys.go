package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// keys are the files with the cluster's certificates and tokens.
type keys struct {
	dir    string
	ca     *x509.Certificate
	signer *ecdsa.PrivateKey
	tokens bytes.Buffer // users of the API, as kube-apiserver reads them
}

func (k *keys) file(name string) string       { return filepath.Join(k.dir, name) }
func (k *keys) kubeconfig(user string) string { return k.file(user + ".kubeconfig") }

// makeKeys makes all keys of a cluster in dir. Its API is at address.
func makeKeys(dir, address string, nodes []string) (*keys, error) {
	k := &keys{dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := k.certificate("ca", pkix.Name{CommonName: "kube"}); err != nil {
		return nil, err
	}
	hosts := []string{"127.0.0.1", address, firstService, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	if err := k.certificate("api", pkix.Name{CommonName: "kube-apiserver"}, hosts...); err != nil {
		return nil, err
	}
	// By this one the API asks kubelets for logs.
	if err := k.certificate("kubelet-client", pkix.Name{CommonName: "kube-apiserver-kubelet-client", Organization: []string{"system:masters"}}); err != nil {
		return nil, err
	}
	accounts, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(accounts.Public())
	if err != nil {
		return nil, err
	}
	if err := k.write("accounts.pub", "PUBLIC KEY", public); err != nil {
		return nil, err
	}
	if err := k.secret("accounts.key", accounts); err != nil {
		return nil, err
	}
	users := map[string]string{"admin": "system:masters", "system:kube-controller-manager": "", "system:kube-scheduler": "", "system:kube-proxy": ""}
	for _, n := range nodes {
		users["system:node:"+n] = "system:nodes"
	}
	for user, group := range users {
		if err := k.user(address, user, group); err != nil {
			return nil, err
		}
	}
	return k, os.WriteFile(k.file("tokens.csv"), k.tokens.Bytes(), 0o600)
}

// certificate makes a certificate, by the first one that was made, and its key.
func (k *keys) certificate(name string, subject pkix.Name, hosts ...string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: subject, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 0, 1),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: k.ca == nil,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	parent, signer := k.ca, k.signer
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return err
	}
	if k.ca == nil {
		if k.ca, err = x509.ParseCertificate(der); err != nil {
			return err
		}
		k.signer = key
	}
	if err := k.write(name+".crt", "CERTIFICATE", der); err != nil {
		return err
	}
	return k.secret(name+".key", key)
}

func (k *keys) secret(name string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return k.write(name, "EC PRIVATE KEY", der)
}

func (k *keys) write(name, kind string, der []byte) error {
	return os.WriteFile(k.file(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// user makes a user of the API, and how it connects.
func (k *keys) user(address, user, group string) error {
	token := rand.Text()
	name := user[strings.LastIndex(user, ":")+1:]
	fmt.Fprintf(&k.tokens, "%s,%s,%s,%q\n", token, user, name, group)
	config := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://%s:6443", certificate-authority: %s}}]
users: [{name: u, user: {token: %s}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, address, k.file("ca.crt"), token)
	return os.WriteFile(k.kubeconfig(name), []byte(config), 0o600)
}
