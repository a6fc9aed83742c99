package wire

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Login is how a program connects to the control plane. Texts never show what is secret in it.
type Login struct {
	// URL has one server or several, with commas: nats://host:4222, or tls:// where the connection is encrypted.
	URL string
	// Token is a secret that all share. NKey and Creds name files: a user's seed, or a JWT with its seed. At most
	// one of the three is given.
	Token, NKey, Creds string
	// CA names the file of the authority that signed the server's certificate; empty: the system's. Cert and Key
	// name those of a client's certificate.
	CA, Cert, Key string
	// Pin is the SHA-256 of the server's certificate, in hexadecimal, instead of an authority. The server must
	// then begin with TLS, as a control plane that sixnines starts does: it says nothing before.
	Pin string
	// Name is that of the connection at the server.
	Name string
	// Identity is an agent's, who proves it to a server known by its Pin. nil: not an agent.
	Identity *Identity
}

// ErrLogin is wrapped by errors about a login that cannot be used as it is.
var ErrLogin = errors.New("cannot connect so")

// servers parses the addresses of l.
func (l *Login) servers() ([]*url.URL, error) {
	var all []*url.URL
	for text := range strings.SplitSeq(l.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		switch {
		case err != nil: // which quotes the text
			return nil, fmt.Errorf("%w: the address is not a URL; it looks like nats://host:4222", ErrLogin)
		case u.Scheme != "nats" && u.Scheme != "tls":
			return nil, fmt.Errorf("%w: the address begins with %.16q; it begins with nats:// or, encrypted, with tls://", ErrLogin, u.Scheme)
		case u.Hostname() == "":
			return nil, fmt.Errorf("%w: the address has no host", ErrLogin)
		case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
			return nil, fmt.Errorf("%w: the address has more than a host and a port", ErrLogin)
		}
		if u.Port() == "" {
			u.Host = net.JoinHostPort(u.Hostname(), "4222")
		}
		all = append(all, u)
	}
	return all, nil
}

// Shown is the addresses without secrets.
func (l *Login) Shown() string {
	all, err := l.servers()
	if err != nil {
		return "the address"
	}
	var shown []string
	for _, u := range all {
		shown = append(shown, u.Scheme+"://"+u.Host)
	}
	return strings.Join(shown, ",")
}

// encrypted reports whether the connection to u is.
func (l *Login) encrypted(u *url.URL) bool {
	return u.Scheme == "tls" || l.CA != "" || l.Cert != "" || l.Pin != ""
}

// Check returns what is wrong with the login, as an error that wraps [ErrLogin]. Beyond loopback it must be
// encrypted and authenticated. It reads no files.
func (l *Login) Check() error {
	all, err := l.servers()
	if err != nil {
		return err
	}
	var ways []string
	for _, w := range []struct{ name, value string }{{"a token", l.Token}, {"an NKey", l.NKey}, {"credentials", l.Creds}} {
		if w.value != "" {
			ways = append(ways, w.name)
		}
	}
	switch {
	case len(ways) > 1:
		return fmt.Errorf("%w: there are %s: give one of them", ErrLogin, strings.Join(ways, " and "))
	case (l.Cert == "") != (l.Key == ""):
		return fmt.Errorf("%w: a client's certificate and its key belong together", ErrLogin)
	case l.Pin != "" && l.CA != "":
		return fmt.Errorf("%w: there are an authority and the SHA-256 of a certificate: give one of them", ErrLogin)
	}
	if l.Pin != "" {
		if b, err := hex.DecodeString(l.Pin); err != nil || len(b) != sha256.Size {
			return fmt.Errorf("%w: a certificate's SHA-256 has %d hexadecimal digits", ErrLogin, 2*sha256.Size)
		}
	}
	for _, u := range all {
		if Loopback(u.Hostname()) {
			continue
		}
		known := len(ways) > 0 || u.User != nil || l.Cert != ""
		switch encrypted := l.encrypted(u); {
		case !encrypted && !known:
			return fmt.Errorf("%w: %s is not on this machine, so the connection must be encrypted (tls://) and authenticated (a token, an NKey, credentials or a client's certificate)", ErrLogin, u.Host)
		case !encrypted:
			return fmt.Errorf("%w: %s is not on this machine, so the connection must be encrypted: tls://%s", ErrLogin, u.Host, u.Host)
		case !known:
			return fmt.Errorf("%w: %s is not on this machine, so this side must log in: by a token, an NKey, credentials or a client's certificate", ErrLogin, u.Host)
		}
	}
	return nil
}

// Loopback reports whether a host is this machine by its name alone.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// options are those of nats.go.
func (l *Login) options() ([]nats.Option, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	all, _ := l.servers() // checked
	o := []nats.Option{
		nats.Name(l.Name), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ReconnectBufSize(-1),                                         // what cannot be sent now is sent again by its owner, or out of date by then
		nats.IgnoreDiscoveredServers(),                                    // whose addresses Check has not seen
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the default writes to stderr
	}
	switch {
	case l.Token != "":
		o = append(o, nats.Token(l.Token))
	case l.NKey != "":
		key, err := nats.NkeyOptionFromSeed(l.NKey)
		if err != nil {
			return nil, fmt.Errorf("%w: the file %s: %w; it has a user's seed, which begins with SU", ErrLogin, l.NKey, err)
		}
		o = append(o, key)
	case l.Creds != "":
		if err := checkCreds(l.Creds); err != nil {
			return nil, fmt.Errorf("%w: the file %s: %w", ErrLogin, l.Creds, err)
		}
		o = append(o, nats.UserCredentials(l.Creds))
	}
	if l.Identity != nil && l.Pin != "" {
		o = append(o, l.Identity.options()...)
	}
	if !l.encrypted(all[0]) {
		return o, nil
	}
	c, err := l.tls()
	if err != nil {
		return nil, err
	}
	if o = append(o, nats.Secure(c)); l.Pin != "" {
		o = append(o, nats.TLSHandshakeFirst())
	}
	return o, nil
}

// checkCreds returns what is wrong with a file of credentials.
func checkCreds(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	token, err := nkeys.ParseDecoratedJWT(text)
	if err == nil {
		_, err = nkeys.ParseDecoratedUserNKey(text)
	}
	if err != nil {
		return fmt.Errorf("%w; it has a user's JWT and seed", err)
	}
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil {
		return fmt.Errorf("its JWT is not a user's: %w", err)
	}
	if at := time.Unix(claims.Expires, 0); claims.Expires > 0 && time.Now().After(at) {
		return fmt.Errorf("%w, on %s", ErrExpired, at.UTC().Format(time.RFC3339))
	}
	return nil
}

// ErrExpired is wrapped by errors about credentials that were valid once.
var ErrExpired = errors.New("the credentials have expired")

// tls is the configuration of an encrypted connection.
func (l *Login) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if l.CA != "" {
		pem, err := os.ReadFile(l.CA)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrLogin, err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: no certificate in %s: it is a PEM file with a block BEGIN CERTIFICATE", ErrLogin, l.CA)
		}
	}
	if l.Cert != "" {
		pair, err := tls.LoadX509KeyPair(l.Cert, l.Key)
		if err != nil {
			return nil, fmt.Errorf("%w: the client's certificate: %w", ErrLogin, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if l.Pin != "" {
		pin, _ := hex.DecodeString(l.Pin) // checked
		// The certificate itself is known, so that neither its authority nor its names matter.
		c.InsecureSkipVerify = true
		c.VerifyConnection = func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errors.New("the server shows no certificate")
			}
			sum := sha256.Sum256(s.PeerCertificates[0].Raw)
			if subtle.ConstantTimeCompare(sum[:], pin) != 1 {
				return errPin
			}
			return nil
		}
	}
	return c, nil
}

var errPin = errors.New("the server's certificate is not the one whose SHA-256 was given")

// TokenVariable is the environment variable that has a token for the control plane.
const TokenVariable = "SIXNINES_FLEET_TOKEN"

// AddressVariable is the environment variable that has the address of the control plane for commands about a fleet.
const AddressVariable = "SIXNINES_FLEET"
