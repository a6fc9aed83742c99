package control

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sixnines/internal/filelock"
	"sixnines/internal/fleet/wire"
	"sixnines/internal/selfsigned"
)

// keep is what of a control plane stays when it is started again.
type keep struct {
	name  string // of the server
	token string // of coordinators
	join  string // of agents
	pair  tls.Certificate
}

// namePrefix begins the names of the servers that sixnines starts.
const namePrefix = "sixnines-fleet-"

// The files of a control plane's keys.
const (
	tokenFile       = "token"
	joinFile        = "join"
	certificateFile = "certificate.pem"
)

// keepIn reads what is kept in dir, or makes it, the certificate for hosts; nil: for this machine's.
func keepIn(dir string, hosts []string) (k keep, err error) {
	if k.name, err = kept(dir, "name", func() (string, error) { return namePrefix + strings.ToLower(rand.Text()), nil }); err != nil {
		return k, err
	}
	secret := func() (string, error) { return rand.Text() + rand.Text(), nil }
	if k.token, err = kept(dir, tokenFile, secret); err != nil {
		return k, err
	}
	if k.join, err = kept(dir, joinFile, secret); err != nil {
		return k, err
	}
	both, err := kept(dir, certificateFile, func() (string, error) {
		if hosts == nil {
			hosts = ownHosts()
		}
		public, private, err := selfsigned.Certificate("sixnines fleet", hosts...)
		return string(public) + string(private), err
	})
	if err != nil {
		return k, err
	}
	if k.pair, err = tls.X509KeyPair([]byte(both), []byte(both)); err != nil {
		err = fmt.Errorf("%s: %w", filepath.Join(dir, certificateFile), err)
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
	return made, write(path, made)
}

// write writes a file that nobody else can read, at once.
func write(path, text string) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// addressFile has, in a control plane's directory, where it listens or did last: HOST:PORT.
const addressFile = "address"

// portIn returns the port to listen on: the one that is asked for; else the one of before, where agents that have lost it
// look for it, if it is free; else 0.
func portIn(dir string, asked int) (int, error) {
	if asked != 0 {
		return asked, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, addressFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	_, port, err := net.SplitHostPort(string(text))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Join(dir, addressFile), err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("", port))
	if err != nil {
		return 0, nil // somebody else has it
	}
	if err := l.Close(); err != nil {
		return 0, err
	}
	return strconv.Atoi(port)
}

// note writes down where it listens.
func (s *Server) note(dir string) error {
	l := s.Login()
	path := filepath.Join(dir, addressFile)
	if err := os.WriteFile(path+".new", []byte(strings.TrimPrefix(l.URL, "tls://")), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// ErrNone is wrapped by the error of [Running] where no control plane runs.
var ErrNone = errors.New("no control plane runs there")

// Running is how a process of this user connects to the control plane that another process runs in dir.
func Running(dir string) (wire.Login, error) {
	none := func(err error) error { return fmt.Errorf("%w, in %s%s", ErrNone, dir, before(": ", err)) }
	lock := filepath.Join(dir, "lock")
	if _, err := os.Stat(lock); err != nil {
		return wire.Login{}, none(nil)
	}
	unlock, err := filelock.Take(lock)
	if err == nil {
		unlock()
		return wire.Login{}, none(nil)
	}
	if !errors.Is(err, filelock.ErrBusy) {
		return wire.Login{}, err
	}
	address, err := os.ReadFile(filepath.Join(dir, addressFile))
	if err != nil {
		return wire.Login{}, none(err)
	}
	k, err := keepIn(dir, nil)
	if err != nil {
		return wire.Login{}, err
	}
	return wire.Login{URL: "tls://" + string(address), Token: k.token, Pin: k.pin()}, nil
}

// pin is the SHA-256 of the certificate.
func (k *keep) pin() string {
	sum := sha256.Sum256(k.pair.Certificate[0])
	return hex.EncodeToString(sum[:])
}

func before(mark string, err error) string {
	if err == nil {
		return ""
	}
	return mark + err.Error()
}

// ownDir makes a directory into which nobody else can look.
func ownDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// ownHosts are the names and addresses of this machine.
func ownHosts() []string {
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
