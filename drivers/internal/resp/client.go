package resp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Config is what both drivers' options say about connections.
type Config struct {
	Driver         string // for the beginning of errors
	Via            string // how messages are sent and received: Direct, GoRedis or Redigo
	WriteBuffer    int    // bytes that producers collect; 1: none; 0: 1 where the load is paced, 64 KiB flat out
	User, Password string // instead of the URL's
	Database       int    // -1: the URL's, else 0
	Name           string // how the connections' names begin
	ConnectTimeout time.Duration
	ReconnectWait  time.Duration
	MaxReconnects  int // in a row; -1: without end
}

// Client makes connections to the server of one session. It is safe for
// concurrent use.
type Client struct {
	Config
	Address Address
	Run     string
	Notify  func(driver.Event) // never nil
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	tls     *tls.Config // nil: plain
}

// NewClient checks the target's address and what it takes to log in.
func NewClient(t driver.Target, c Config) (*Client, error) {
	cl := &Client{Config: c, Run: t.Run, Notify: t.Notify, dial: t.Dial}
	if cl.Notify == nil {
		cl.Notify = func(driver.Event) {}
	}
	if cl.dial == nil {
		cl.dial = new(net.Dialer).DialContext
	}
	var err error
	if cl.Address, err = ParseAddress(t.URL); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Driver, err)
	}
	if cl.User == "" && cl.Password == "" {
		cl.User, cl.Password = cl.Address.User, cl.Address.Password
	}
	if cl.WriteBuffer == 0 {
		cl.WriteBuffer = 1
		if t.Batch {
			cl.WriteBuffer = 64 << 10
		}
	}
	if cl.Database < 0 {
		cl.Database = max(0, cl.Address.Database)
	}
	if strings.ContainsFunc(c.Name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%s: option \"name\": %w: the server takes no spaces and nothing but ASCII, not %q", c.Driver, driver.ErrOption, c.Name)
	}
	if t.Run == "" || strings.ContainsFunc(t.Run, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%s: run %q: %w: names of runs have letters, digits and hyphens only", c.Driver, t.Run, driver.ErrUnsupported)
	}
	if t.TLS != nil || cl.Address.TLS {
		if cl.Address.Network == "unix" {
			return nil, fmt.Errorf("%s: %w: TLS on a socket of this machine, which servers do not offer", c.Driver, driver.ErrOption)
		}
		if cl.tls, err = t.TLS.Config(cl.Address.Host); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Driver, err)
		}
	}
	return cl, nil
}

// Unchecked reports whether the server's certificate is not checked.
func (cl *Client) Unchecked() bool { return cl.tls != nil && cl.tls.InsecureSkipVerify }

// Login names the way in which connections log in.
func (cl *Client) Login() string {
	certificate := ""
	if cl.tls != nil && len(cl.tls.Certificates) > 0 {
		certificate = ", and a client's certificate"
	}
	switch {
	case cl.User != "":
		return "user and password" + certificate
	case cl.Password != "":
		return "password" + certificate
	case certificate != "":
		return "a client's certificate"
	}
	return "none"
}

// Conn is a connection that has logged in. Its Do, its clients and the network
// connection below must not be read at the same time.
type Conn struct {
	net.Conn
	raw   net.Conn // below TLS
	redis redis.Conn
	tls   string // the version of TLS; empty: plain
}

// Close ends the connection without the goodbye of TLS, for which a server that
// is stuck would have to be waited for.
func (c *Conn) Close() error { return c.raw.Close() }

// Late returns the connection as one that can be read late, if it can be: without
// TLS, made by the engine, on a system that stamps what it receives.
func (c *Conn) Late() (lateReads, bool) {
	from, ok := c.raw.(lateReads)
	return from, ok && c.Conn == c.raw && from.ReadsLate()
}

// Do sends a command and returns its reply as redigo does: nil, int64, string,
// []byte or []any of these. Whoever wants to be able to leave closes c.
func (c *Conn) Do(command string, args ...any) (any, error) { return c.redis.Do(command, args...) }

// Transport says what lies below.
func (c *Conn) Transport() string {
	network := "tcp"
	if c.LocalAddr().Network() == "unix" {
		network = "unix socket"
	}
	if c.tls != "" {
		network += ", " + c.tls
	}
	return network
}

// Connect makes a connection under the name and logs in. It ends with ctx, and
// after Config.ConnectTimeout. Errors wrap a class, but do not name the driver.
func (cl *Client) Connect(ctx context.Context, name string) (*Conn, error) {
	limited, cancel := context.WithTimeout(ctx, cl.ConnectTimeout)
	defer cancel()
	c, err := cl.connect(limited, name)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("connect to %s: %w: %w", cl.Address, driver.ErrNotConnected, context.Cause(ctx))
	case limited.Err() != nil:
		err = firstWords(fmt.Errorf("no answer in %v: %w", cl.ConnectTimeout, context.DeadlineExceeded), cl.tls != nil, false)
	}
	what := "connect to"
	if errors.Is(err, driver.ErrUnauthorized) {
		what = "log in to"
	}
	return nil, fmt.Errorf("%s %s: %w", what, cl.Address, err)
}

// first connects for the first time, when the server is ready.
func (cl *Client) first(ctx context.Context, name string) (c *Conn, err error) {
	err = kit.Await(ctx, "connect to "+cl.Address.String(), passes, func() error {
		c, err = cl.Connect(ctx, name)
		return err
	})
	return c, err
}

func (cl *Client) connect(ctx context.Context, name string) (*Conn, error) {
	raw, err := cl.dial(ctx, cl.Address.Network, cl.Address.Place)
	if err != nil {
		return nil, explain(err)
	}
	// The handshakes know no context.
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	c, err := cl.greet(ctx, raw, name)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		raw.Close()
		return nil, err
	}
	return c, nil
}

func (cl *Client) greet(ctx context.Context, raw net.Conn, name string) (*Conn, error) {
	c := &Conn{Conn: raw, raw: raw}
	encrypted, asked := cl.tls != nil, false
	if encrypted {
		config := cl.tls.Clone()
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			asked = true
			if len(config.Certificates) > 0 {
				return &config.Certificates[0], nil
			}
			return new(tls.Certificate), nil
		}
		over := tls.Client(raw, config)
		if err := over.HandshakeContext(ctx); err != nil {
			return nil, firstWords(err, true, asked)
		}
		c.Conn, c.tls = over, strings.ToLower(tls.VersionName(over.ConnectionState().Version))
	}
	c.redis = redis.NewConn(c.Conn, 0, 0)
	if cl.User != "" || cl.Password != "" {
		args := []any{cl.Password}
		if cl.User != "" {
			args = []any{cl.User, cl.Password}
		}
		if _, err := c.Do("AUTH", args...); err != nil {
			return nil, firstWords(err, encrypted, asked)
		}
	}
	// The first word to those who need not log in, and for these the proof of it.
	if _, err := c.Do("PING"); err != nil && !IsReply(err, "NOPERM") {
		return nil, firstWords(err, encrypted, asked)
	}
	if cl.Database > 0 {
		if _, err := c.Do("SELECT", strconv.Itoa(cl.Database)); err != nil {
			return nil, fmt.Errorf("database %d: %w", cl.Database, explain(err))
		}
	}
	if cl.Name != "" {
		// Only there to be seen: who may not give a name goes without.
		_, err := c.Do("CLIENT", "SETNAME", cl.Name+"-"+cl.Run+"-"+name)
		var reply redis.Error
		if err != nil && !errors.As(err, &reply) {
			return nil, explain(err)
		}
	}
	return c, nil
}

// lost says why a connection has ended.
func lost(err error) string {
	if err == nil || errors.Is(err, io.EOF) {
		return "the server has closed the connection"
	}
	return err.Error()
}
