package control

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"sixnines/internal/selfsigned"
)

// keep is what of a control plane stays when it is started again.
type keep struct {
	name  string // of the server
	token string
	pair  tls.Certificate
}

// keepIn reads what is kept in dir, or makes it.
func keepIn(dir string) (k keep, err error) {
	if k.name, err = kept(dir, "name", func() (string, error) { return "sixnines-fleet-" + strings.ToLower(rand.Text()), nil }); err != nil {
		return k, err
	}
	if k.token, err = kept(dir, "token", func() (string, error) { return rand.Text() + rand.Text(), nil }); err != nil {
		return k, err
	}
	both, err := kept(dir, "certificate.pem", func() (string, error) {
		public, private, err := selfsigned.Certificate("sixnines fleet", hosts()...)
		return string(public) + string(private), err
	})
	if err != nil {
		return k, err
	}
	if k.pair, err = tls.X509KeyPair([]byte(both), []byte(both)); err != nil {
		err = fmt.Errorf("%s: %w", filepath.Join(dir, "certificate.pem"), err)
	}
	return k, err
}

// kept returns the text of a file in dir, which it makes if it is not there. Nobody else can read it.
func kept(dir, name string, make func() (string, error)) (string, error) {
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if err == nil {
		return string(text), os.Chmod(path, 0o600)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	made, err := make()
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(made)
	if err = errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return "", err
	}
	return made, os.Rename(path+".new", path)
}

// ownDir makes a directory into which nobody else can look.
func ownDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// hosts are the names and addresses of this machine.
func hosts() []string {
	all := []string{"localhost"}
	if name, err := os.Hostname(); err == nil {
		all = append(all, name)
	}
	addresses, _ := net.InterfaceAddrs() // agents know the certificate itself: its hosts are for other clients
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok {
			all = append(all, n.IP.String())
		}
	}
	return all
}
