package driver_test

import (
	"crypto/ed25519"
	"crypto/rand"
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

// One key, made for this test: plain, and as openssl pkcs8 -topk8 of OpenSSL 3.0 encrypts it with the password lovelace.
const (
	plainKey = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIDi72wZVFEs3FG6U+FKgrSBGOiPYKteo1sWoNqJdHoEu
-----END PRIVATE KEY-----
`
	aes256Key = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjSrzXyjDfxjwICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEG5GCmOtzII3K8Pr/blC9BwEQEwn
xskJ9fR/SZT5/Id9gKUozd4MMTBuAjFDJsEQbUokP36DGNFsSkYcDQ9aCwKiXuRq
qRj447kTm92IaUTk26c=
-----END ENCRYPTED PRIVATE KEY-----
`
	aes128Key = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGNMEkGCSqGSIb3DQEFDTA8MBsGCSqGSIb3DQEFDDAOBAginQlQnfahRAICCAAw
HQYJYIZIAWUDBAECBBBxWHtN9Rc165Sdfscgn3CyBEBTksdvqRqvV0uRgooktwl5
CmtSTXiwB7PkS4DkpYiIOGnR59RAthbkyAV3MDjfrTAHbbTqMAevAbz+8kJWyOaK
-----END ENCRYPTED PRIVATE KEY-----
` // -v2 aes-128-cbc -v2prf hmacWithSHA1, as OpenSSL 1.0 has it
	des3Key = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGKME4GCSqGSIb3DQEFDTBBMCkGCSqGSIb3DQEFDDAcBAgJDYfAT/dxggICCAAw
DAYIKoZIhvcNAgkFADAUBggqhkiG9w0DBwQITHJqukBRfUYEOCgQfyXLL00/FWyb
RjmYBRTtEvos2qm77tEYFJCIgP96D5tM1KzwxbLY3jfMj2lZcn7itX6Shmzf
-----END ENCRYPTED PRIVATE KEY-----
`
	scryptKey = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGTME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAgVy/HzjO8WuwICQAAC
AQgCAQEwHQYJYIZIAWUDBAEqBBCyoMdbHGn6TfX2QFYDIOJABEBPCcWuOdL4pEQG
u3svaOHeSkpUwVQsf5/H4+rvOO9ApPZF9bgzaMa3WOg3GqKPq5tMTnmRwfOeyJcc
rCGEM3t8
-----END ENCRYPTED PRIVATE KEY-----
`
)

func TestEncryptedKeys(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	block, _ := pem.Decode([]byte(plainKey))
	private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.(ed25519.PrivateKey).Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	cert := write("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	//lint:ignore SA1019 files of this kind exist
	old, err := x509.EncryptPEMBlock(rand.Reader, block.Type, block.Bytes, []byte("lovelace"), x509.PEMCipherAES256)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, key, password, want string
	}{
		{"plain", plainKey, "", ""},
		{"plain, with a password", plainKey, "lovelace", ""},
		{"AES of 256 bits", aes256Key, "lovelace", ""},
		{"AES of 128 bits", aes128Key, "lovelace", ""},
		{"triple DES", des3Key, "lovelace", ""},
		{"as before PKCS #8", string(pem.EncodeToMemory(old)), "lovelace", ""},
		{"with a certificate before it", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})) + aes256Key, "lovelace", ""},
		{"no password", aes256Key, "", "give its password in tls.key_password"},
		{"another password", aes256Key, "byron", "the password does not open it"},
		{"another password, before PKCS #8", string(pem.EncodeToMemory(old)), "byron", "the password does not open it"},
		{"another derivation", scryptKey, "lovelace", "openssl pkcs8 -topk8"},
		{"cut off", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGbMFcG\n-----END ENCRYPTED PRIVATE KEY-----\n", "lovelace", "damaged"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := (&driver.TLS{Cert: cert, Key: write("key.pem", test.key), KeyPassword: test.password}).Config("h")
			switch {
			case test.want == "" && (err != nil || len(c.Certificates) != 1):
				t.Error(err)
			case test.want != "" && (!errors.Is(err, driver.ErrOption) || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v", err)
			case test.password != "" && err != nil && strings.Contains(err.Error(), test.password):
				t.Errorf("it shows the password: %v", err)
			}
		})
	}
}

// FuzzEncryptedKeys: no file makes reading a key fail in another way than by an error.
func FuzzEncryptedKeys(f *testing.F) {
	for _, key := range []string{plainKey, aes256Key, aes128Key, des3Key, scryptKey} {
		block, _ := pem.Decode([]byte(key))
		f.Add(block.Bytes)
	}
	dir := f.TempDir()
	cert := filepath.Join(dir, "cert.pem")
	if err := os.WriteFile(cert, nil, 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, der []byte) {
		key := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (&driver.TLS{Cert: cert, Key: key, KeyPassword: "lovelace"}).Config("h"); !errors.Is(err, driver.ErrOption) {
			t.Error(err)
		}
	})
}
