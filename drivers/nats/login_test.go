package nats_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/nats"
)

// works sends a message through a session with the target.
func works(t *testing.T, target driver.Target) driver.Semantics {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	target.Run = "test"
	s, err := nats.Entry().Driver.Open(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(ctx)
	semantics, err := s.Provision(ctx, driver.Topology{Topics: []string{"t0"}, MaxSize: 64})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	if _, err := s.Consumer(ctx, driver.ConsumerSpec{Topics: []string{"t0"}}, func(m driver.Message) { got <- string(m.Payload) }); err != nil {
		t.Fatal(err)
	}
	if err := sessiontest.Produce(t, s, &sessiontest.Counter{}).Send(1, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-got:
		if text != "hello" {
			t.Errorf("got %q", text)
		}
	case <-ctx.Done():
		t.Error("the message did not arrive")
	}
	return semantics
}

// refused opens a session, which must fail with the class and say the words.
func refused(t *testing.T, target driver.Target, class error, words ...string) {
	t.Helper()
	sessiontest.Refused(t, nats.Entry().Driver, target, class, words...)
}

func write(t testing.TB, dir, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestToken(t *testing.T) {
	b := startBroker(t, `authorization { token: "abra" }`)
	works(t, driver.Target{URL: b.url.String(), Options: map[string]any{"token": "abra"}})
	works(t, driver.Target{URL: "nats://abra@" + b.url.Host})
	refused(t, driver.Target{URL: b.url.String(), Options: map[string]any{"token": "cadabra"}}, driver.ErrUnauthorized)
	refused(t, driver.Target{URL: b.url.String()}, driver.ErrUnauthorized)
}

func TestUserInURL(t *testing.T) {
	b := startBroker(t, `authorization { user: ada, password: lovelace }`)
	semantics := works(t, driver.Target{URL: "nats://ada:lovelace@" + b.url.Host})
	if text := fmt.Sprint(semantics); strings.Contains(text, "lovelace") {
		t.Errorf("the semantics show the password: %s", text)
	}
	ctx := context.Background()
	_, err := nats.Entry().Driver.Open(ctx, driver.Target{URL: "nats://ada:byron@" + b.url.Host, Run: "test"})
	if !errors.Is(err, driver.ErrUnauthorized) || strings.Contains(err.Error(), "byron") {
		t.Errorf("error %v is of another class or shows the password", err)
	}
}

func TestNKey(t *testing.T) {
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	seed := func(name string, k nkeys.KeyPair) string {
		text, err := k.Seed()
		if err != nil {
			t.Fatal(err)
		}
		return write(t, dir, name, text)
	}
	public, err := user.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	b := startBroker(t, fmt.Sprintf(`authorization { users: [ { nkey: %s } ] }`, public))
	works(t, driver.Target{URL: b.url.String(), Options: map[string]any{"nkey_seed": seed("user.nk", user)}})
	refused(t, driver.Target{URL: b.url.String(), Options: map[string]any{"nkey_seed": seed("stranger.nk", stranger)}}, driver.ErrUnauthorized)
	absent := filepath.Join(dir, "absent.nk")
	refused(t, driver.Target{URL: b.url.String(), Options: map[string]any{"nkey_seed": absent}}, driver.ErrOption, "nkey_seed", absent)
}

func TestCredentialsFile(t *testing.T) {
	operator, _ := nkeys.CreateOperator()
	account, _ := nkeys.CreateAccount()
	user, _ := nkeys.CreateUser()
	public := func(k nkeys.KeyPair) string {
		s, err := k.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	encode := func(c jwt.Claims, by nkeys.KeyPair) string {
		s, err := c.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	operatorJWT := encode(jwt.NewOperatorClaims(public(operator)), operator)
	accountJWT := encode(jwt.NewAccountClaims(public(account)), operator)
	userJWT := encode(jwt.NewUserClaims(public(user)), account)
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(userJWT, seed)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	creds := write(t, dir, "user.creds", text)
	b := startBroker(t, fmt.Sprintf("operator: %s\nresolver: MEMORY\nresolver_preload: { %s: %s }", operatorJWT, public(account), accountJWT))
	works(t, driver.Target{URL: b.url.String(), Options: map[string]any{"creds": creds}})
	refused(t, driver.Target{URL: b.url.String()}, driver.ErrUnauthorized)
	for name, text := range map[string]string{"empty.creds": "", "jwt.creds": userJWT, "half.creds": "-----BEGIN NATS USER JWT-----\n" + userJWT + "\n------END NATS USER JWT------\n"} {
		file := write(t, dir, name, []byte(text))
		refused(t, driver.Target{URL: b.url.String(), Options: map[string]any{"creds": file}}, driver.ErrOption, "creds", file)
	}
}

func TestWrongOptions(t *testing.T) {
	for name, test := range map[string]struct {
		target driver.Target
		class  error
		word   string
	}{
		"two ways to log in": {driver.Target{Options: map[string]any{"user": "a", "token": "b"}}, driver.ErrOption, "user and token"},
		"password alone":     {driver.Target{Options: map[string]any{"password": "b"}}, driver.ErrOption, "user"},
		"scheme":             {driver.Target{URL: "http://localhost:4222"}, driver.ErrOption, "http"},
		"no host":            {driver.Target{URL: "nats://:4222"}, driver.ErrOption, "no host"},
		"no URL":             {driver.Target{URL: "nats://%zz"}, driver.ErrOption, "cannot be read"},
		"misspelt":           {driver.Target{Options: map[string]any{"writebuffer": 1}}, driver.ErrOption, "write_buffer"},
		"wildcard in run":    {driver.Target{Run: "a.*"}, driver.ErrUnsupported, "wildcards"},
		"no CA":              {driver.Target{TLS: &driver.TLS{CA: "absent.pem"}}, driver.ErrOption, "absent.pem"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.target.URL == "" {
				test.target.URL = "nats://" + unusedAddress(t)
			}
			refused(t, test.target, test.class, test.word)
		})
	}
}

func TestPermissions(t *testing.T) {
	b := startBroker(t, `authorization { users: [ { user: ada, password: lovelace, permissions: {
		subscribe: [ "_INBOX.>", "s9.test.open" ], publish: [ "s9.test.open" ] } } ] }`)
	events := make(chan driver.Event, 16)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := nats.Entry().Driver.Open(ctx, driver.Target{URL: b.url.String(), Run: "test", Notify: func(e driver.Event) { events <- e },
		Options: map[string]any{"user": "ada", "password": "lovelace"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(ctx)
	if _, err := s.Consumer(ctx, driver.ConsumerSpec{Topics: []string{"t0"}}, new(sessiontest.Counter).Deliver); !errors.Is(err, driver.ErrUnauthorized) {
		t.Errorf("subscription to a forbidden topic: %v", err)
	}
	if _, err := s.Consumer(ctx, driver.ConsumerSpec{Topics: []string{"open"}}, new(sessiontest.Counter).Deliver); err != nil {
		t.Error(err)
	}
	for len(events) > 0 {
		<-events
	}
	// The server tells of a forbidden publish after the fact.
	if err := sessiontest.Produce(t, s, &sessiontest.Counter{}).Send(1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	select {
	case e := <-events:
		if e.Kind != driver.Denied || e.Count != 1 || !errors.Is(e.Err, driver.ErrUnauthorized) || !strings.Contains(strings.ToLower(e.Detail), "permissions violation") {
			t.Errorf("got %+v", e)
		}
	case <-ctx.Done():
		t.Error("a forbidden publish was not reported")
	}
}

// Who may not publish hears it by the round trip after the first message.
func TestForbidden(t *testing.T) {
	b := startBroker(t, `authorization { users: [ { user: ada, password: lovelace, permissions: { subscribe: ">", publish: "open" } } ] }`)
	for _, client := range []string{"direct", "library"} {
		sessiontest.Forbidden(t, nats.Entry().Driver, driver.Target{URL: b.url.String(),
			Options: map[string]any{"user": "ada", "password": "lovelace", "client": client}}, `Permissions Violation for Publish to "s9.test.t0"`)
	}
}

func TestLockedOut(t *testing.T) {
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			b := startBroker(t, `authorization { user: ada, password: lovelace }`)
			sessiontest.LockedOut(t, nats.Entry().Driver, driver.Target{URL: b.url.String(),
				Options: map[string]any{"user": "ada", "password": "lovelace", "client": client}}, func() {
				b.config = `authorization { user: ada, password: byron }`
				b.restart()
			}, "Authorization Violation")
		})
	}
}

// authority issues certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.file, _ = a.sign("authority", template)
	return a
}

// issue writes a certificate for loopback and its key.
func (a *authority) issue(name string) (cert, key string) {
	return a.sign(name, &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
}

func (a *authority) sign(name string, template *x509.Certificate) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, private
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, private.Public(), signer)
	if err != nil {
		a.t.Fatal(err)
	}
	if a.cert == nil {
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			a.t.Fatal(err)
		}
		a.key = private
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	return write(a.t, a.dir, name+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		write(a.t, a.dir, name+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

func TestTLS(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	serverCert, serverKey := ca.issue("server")
	cert, key := ca.issue("client")
	b := startBroker(t, fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }", serverCert, serverKey, ca.file))
	address := "tls://" + b.url.Host
	full := &driver.TLS{CA: ca.file, Cert: cert, Key: key}
	if transport := works(t, driver.Target{URL: address, TLS: full}).Transport; transport != "tcp, tls 1.3" {
		t.Errorf("transport %q", transport)
	}
	works(t, driver.Target{URL: "nats://" + b.url.Host, TLS: full})
	works(t, driver.Target{URL: address, TLS: &driver.TLS{Cert: cert, Key: key, InsecureSkipVerify: true}})
	for name, wrong := range map[string]*driver.TLS{
		"no client certificate": {CA: ca.file},
		"strange authority":     {CA: stranger.file, Cert: cert, Key: key},
		"other name":            {CA: ca.file, Cert: cert, Key: key, ServerName: "broker.example"},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, driver.Target{URL: address, TLS: wrong}, driver.ErrNotConnected)
		})
	}
	drivertest.Run(t, drivertest.Harness{Entry: nats.Entry(), Target: driver.Target{URL: address, TLS: full},
		Freeze: b.freeze, Thaw: b.thaw, Restart: b.restart, Leftovers: b.subjects})
}
