package main

import (
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func certificate(t *testing.T, k *keys, name string) *x509.Certificate {
	t.Helper()
	found, err := filepath.Glob(k.file(name) + ".*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if block, _ := pem.Decode(text); block != nil && block.Type == "CERTIFICATE" {
			c, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
	}
	t.Fatalf("%s has no certificate: %q", name, found)
	return nil
}

// The API's certificate is for the addresses by which nodes and pods reach it, and each user has a token of its own. Nobody else
// reads the keys.
func TestKeys(t *testing.T) {
	k, err := makeKeys(filepath.Join(t.TempDir(), "keys"), "10.200.0.254", nodeNames())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate(t, k, "ca"))
	for _, host := range []string{"127.0.0.1", "10.200.0.254", "kubernetes.default.svc"} {
		if _, err := certificate(t, k, "api").Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Error(err)
		}
	}
	tokens := map[string]bool{}
	lines := strings.Split(strings.TrimSpace(k.tokens.String()), "\n")
	for _, line := range lines {
		token, user, _ := strings.Cut(line, ",")
		if len(token) < 16 || user == "" {
			t.Errorf("%q", line)
		}
		tokens[token] = true
	}
	if len(tokens) != 4+len(nodeNames()) || len(lines) != len(tokens) {
		t.Errorf("%d tokens of %d users", len(tokens), len(lines))
	}
	if err := filepath.WalkDir(k.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".key") && filepath.Base(path) != "tokens.csv" {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
