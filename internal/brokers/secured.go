package brokers

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sixnines/internal/selfsigned"
)

// ErrNotSecured says that a product cannot be secured, see [Options.Secured].
var ErrNotSecured = errors.New("cannot be started with encryption and a limited account")

// Grant is something that the account of a secured broker may do, in the broker's terms.
type Grant struct {
	Driver string // which needs it
	Right  string // what the broker calls it: "publish"
	Of     string // of what: "bench.>"
}

// Access is how clients of one driver use a secured broker.
type Access struct {
	CA      string            `json:"ca"`                // PEM file of the authority that signed the server's certificate
	Options map[string]string `json:"options,omitempty"` // of the driver
	Files   map[string]string `json:"files,omitempty"`   // by option, the files that hold secrets
}

// account is the client that a secured broker lets in beside its administrator.
type account struct {
	user, password string
	grants         []Grant
}

// of returns what the rights with the name are of, each once.
func (a *account) of(right string, drivers ...string) []string {
	var all []string
	for _, g := range a.grants {
		if g.Right == right && (len(drivers) == 0 || slices.Contains(drivers, g.Driver)) && !slices.Contains(all, g.Of) {
			all = append(all, g.Of)
		}
	}
	return all
}

// Names of files below the directory of a secured broker.
const (
	securedDir   = "secured"
	passwordFile = "password"
)

// secure makes the authority, the certificate and the passwords of a broker that is to be secured.
func (o *Options) secure(p Product) error {
	if o.Secured == nil {
		return nil
	}
	switch {
	case len(p.Secures) == 0, len(o.Secured) == 0:
		return fmt.Errorf("it %w", ErrNotSecured)
	case o.TLS != nil || o.User != "" || o.Password != "":
		return errors.New("a secured broker makes its certificate and logins itself")
	case o.Apart:
		return errors.New("the certificate of a secured broker is for loopback, not for network namespaces")
	}
	for _, g := range o.Secured {
		if !slices.Contains(p.Secures, g.Driver) {
			return fmt.Errorf("for the driver %s it %w", g.Driver, ErrNotSecured)
		}
	}
	authority, err := selfsigned.NewAuthority("sixnines " + p.Name)
	if err != nil {
		return err
	}
	cert, key, err := authority.Issue(selfsigned.Subject{Name: "localhost", Hosts: []string{"localhost", "127.0.0.1", "::1"}})
	if err != nil {
		return err
	}
	o.User, o.Password = "admin", rand.Text()
	o.account = &account{user: "bench", password: rand.Text(), grants: o.Secured}
	o.TLS = &ServerTLS{Cert: o.securedPath("server.pem"), Key: o.securedPath("server-key.pem"), Authority: o.securedPath("ca.pem")}
	if err := os.Mkdir(o.securedPath(), 0o700); err != nil {
		return err
	}
	for path, text := range map[string][]byte{o.TLS.Authority: authority.PEM(), o.TLS.Cert: cert, o.TLS.Key: key, o.securedPath(passwordFile): []byte(o.account.password)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// securedPath returns the path of a file that secure makes.
func (o *Options) securedPath(name ...string) string {
	return filepath.Join(append([]string{o.Dir, securedDir}, name...)...)
}

// access returns how clients of the driver log in; nil: the broker is not secured for them.
func (o *Options) access(p Product, d *deployment) map[string]Access {
	if o.account == nil {
		return nil
	}
	all := map[string]Access{}
	for _, driver := range p.Secures {
		if !slices.ContainsFunc(o.Secured, func(g Grant) bool { return g.Driver == driver }) {
			continue
		}
		a := Access{CA: o.TLS.Authority, Options: map[string]string{"user": o.account.user}, Files: map[string]string{"password": o.securedPath(passwordFile)}}
		if d.login != nil {
			a.Options, a.Files = d.login.Options, d.login.Files
		}
		all[driver] = a
	}
	return all
}

// Login returns the driver's options with which it logs in at a secured broker.
func (a Access) Login() (map[string]string, error) {
	all := map[string]string{}
	for name, value := range a.Options {
		all[name] = value
	}
	for name, path := range a.Files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("brokers: %w", err)
		}
		all[name] = strings.TrimSpace(string(text))
	}
	return all, nil
}

// Access returns how clients of the driver use the broker; false: it is not secured for them.
func (c *Cluster) Access(driver string) (Access, bool) {
	a, ok := c.access[driver]
	return a, ok
}
