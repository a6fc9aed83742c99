package brokers

import (
	"bytes"
	"os"
	"path/filepath"

	"sixnines/internal/selfsigned"
)

// ownCertificate makes a self-signed certificate for a part of a broker that is a
// client of another part which asks for certificates. trusted is a file with the
// authorities of the file ca and this certificate. All files are in dir.
func ownCertificate(dir, ca string) (cert, key, trusted string, err error) {
	authorities, err := os.ReadFile(ca)
	if err != nil {
		return "", "", "", err
	}
	public, private, err := selfsigned.Certificate("sixnines broker")
	if err != nil {
		return "", "", "", err
	}
	for _, f := range []struct {
		path *string
		name string
		text []byte
	}{
		{&cert, "own.pem", public},
		{&key, "own-key.pem", private},
		{&trusted, "trusted.pem", bytes.Join([][]byte{bytes.TrimSpace(authorities), public}, []byte("\n"))},
	} {
		*f.path = filepath.Join(dir, f.name)
		if err := os.WriteFile(*f.path, f.text, 0o600); err != nil {
			return "", "", "", err
		}
	}
	return cert, key, trusted, nil
}
