package resp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/semantics"
)

// Client makes connections to the server of one session. It is safe for
// concurrent use.
type Client struct {
	*kit.Base
	Options Options // WriteBuffer and Database are what they stand for
	Via     string  // by what messages are sent and received: Direct or Library

	// master is what Sentinels, which Servers are then, call the master that serves; empty: Servers serve.
	master   string
	cluster  *cluster // nil: the servers are none
	masters  masters
	watching sync.WaitGroup // for those who tell of a new master
	asked    atomic.Bool    // the server has asked for a client's certificate
}

// schemes are those of servers' URLs.
func schemes() []kit.Scheme {
	return []kit.Scheme{{Name: "redis", Port: "6379"}, {Name: "rediss", Port: "6379", TLS: true}, {Name: "unix", Socket: true},
		{Name: "redis+sentinel", Port: "26379"}, {Name: "rediss+sentinel", Port: "26379", TLS: true},
		{Name: "redis+cluster", Port: "6379"}, {Name: "rediss+cluster", Port: "6379", TLS: true}}
}

// Schemes are the names of those of servers' URLs.
func Schemes() []string { return kit.Names(schemes()...) }

// newClient checks the target's address and what it takes to log in. The driver's name
// begins errors.
func newClient(t driver.Target, name, via string, o Options) (*Client, error) {
	base, err := kit.NewBase(&kit.Errors{Driver: name, Class: classOf}, t, o.User, o.Password, schemes()...)
	if err != nil {
		return nil, err
	}
	cl := &Client{Base: base, Options: o, Via: via}
	if err := cl.settle(); err != nil {
		base.Stop()
		return nil, err
	}
	return cl, nil
}

// settle decides what options and the URL leave open, and refuses what does not fit
// together.
func (cl *Client) settle() error {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	if slices.ContainsFunc(cl.Servers, func(s kit.Server) bool { return strings.HasSuffix(s.Scheme, "+sentinel") }) {
		if cl.master, cl.Path, _ = strings.Cut(cl.Path, "/"); cl.master == "" {
			return cl.New(driver.ErrOption, "read the URL", "it does not say what the Sentinels call the master; want redis+sentinel://host:26379,host:26379/master")
		}
	}
	if slices.ContainsFunc(cl.Servers, func(s kit.Server) bool { return strings.HasSuffix(s.Scheme, "+cluster") }) {
		cl.cluster = newCluster(cl)
	}
	switch o, run := cl.Options, cl.Target.Run; {
	case slices.ContainsFunc(cl.Servers, func(s kit.Server) bool { return kind(s) != kind(cl.Servers[0]) }):
		return cl.New(driver.ErrOption, "read the URL", "its schemes differ; want one for all: redis+cluster://host:6379,host:6379")
	case len(cl.Servers) > 1 && cl.master == "" && cl.cluster == nil:
		return cl.New(driver.ErrOption, "read the URL", "several servers, but a session uses one; of a cluster, or of Sentinels, there may be several: redis+cluster://host:6379,host:6379, redis+sentinel://host:26379,host:26379/master")
	case cl.TLS != nil && cl.Servers[0].Network() == "unix":
		return cl.New(driver.ErrOption, "read the URL", "TLS on a socket of this machine, which servers do not offer")
	case strings.ContainsFunc(o.Name, odd):
		return cl.Option("name", fmt.Sprintf("the server takes no spaces and nothing but ASCII, not %q", o.Name))
	case run == "" || strings.ContainsFunc(run, odd):
		return cl.New(driver.ErrUnsupported, fmt.Sprintf("run %q", run), "names of runs have letters, digits and hyphens only")
	}
	cl.Options.WriteBuffer = driver.ByteSize(kit.WriteBuffer(cl.Options.WriteBuffer, cl.Target.Batch))
	database, err := cl.database()
	if cl.Options.Database < 0 {
		cl.Options.Database = database
	}
	if cl.TLS != nil {
		certificates := cl.TLS.Certificates
		cl.TLS.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			cl.asked.Store(true)
			if len(certificates) > 0 {
				return &certificates[0], nil
			}
			return new(tls.Certificate), nil
		}
	}
	if err == nil && cl.cluster != nil && cl.Options.Database > 0 {
		return cl.New(driver.ErrOption, "read the URL and the option database", "a cluster has database 0 only; leave %d out", cl.Options.Database)
	}
	return err
}

// kind is what a server is, by the end of its scheme: "sentinel", "cluster", or "" for one that serves by itself.
func kind(s kit.Server) string {
	_, what, _ := strings.Cut(s.Scheme, "+")
	return what
}

// database returns the number of the database that the URL names: redis://host/3, or
// ?db=3; 0: it names none.
func (cl *Client) database() (int, error) {
	text := strings.Trim(cl.Path, "/")
	for key, values := range cl.Query {
		if key != "db" || text != "" {
			return 0, cl.New(driver.ErrOption, "read the URL", "a needless %q; the database is the path, or ?db=", key)
		}
		text = values[0]
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, cl.New(driver.ErrOption, "read the URL", "%q is no number of a database", text)
	}
	return n, nil
}

// Conn is a connection that has logged in. Its Do, its clients and the network
// connection below must not be read at the same time.
type Conn struct {
	kit.Conn
	redis redis.Conn
	// master ends when another server is made the master; nil: nobody tells.
	master context.Context
	forget func() bool // has the end of master not close it any more; nil with master
}

// Close ends the connection without waiting for anything.
func (c *Conn) Close() error {
	if c.forget != nil {
		c.forget()
	}
	return c.Conn.Close()
}

// Late returns the connection as one that can be read late, if it can be: without
// TLS, made by the engine, on a system that stamps what it receives.
func (c *Conn) Late() (lateReads, bool) {
	from, ok := c.Raw.(lateReads)
	return from, ok && c.TLS == nil && from.ReadsLate()
}

// Do sends a command and returns its reply as redigo does: nil, int64, string,
// []byte or []any of these. It has no context: to end it early, close c.
func (c *Conn) Do(command string, args ...any) (any, error) { return c.redis.Do(command, args...) }

// Redigo returns redigo's connection.
func (c *Conn) Redigo() redis.Conn { return c.redis }

// Transport says what lies below.
func (c *Conn) Transport() string {
	network := "tcp"
	if c.LocalAddr().Network() == "unix" {
		network = "unix socket"
	}
	if c.TLS != nil {
		network += ", " + strings.ToLower(tls.VersionName(c.TLS.Version))
	}
	return network
}

// connect makes a connection under the name, logs in, and sets up its state. In a cluster it leads to the server that has the
// slot of to, a key or a channel; empty: to any.
func connect[C any](ctx context.Context, cl *Client, to, name string, setUp func(c *Conn) (C, error)) (C, error) {
	var none C
	var at kit.Server
	var err error
	switch {
	case cl.master != "":
		at, err = cl.askSentinels(ctx)
	case cl.cluster == nil:
		return connectTo(ctx, cl, cl.Servers, name, setUp)
	case to == "":
		return connectAny(ctx, cl, name, setUp)
	default:
		at, err = cl.cluster.owner(ctx, to)
	}
	if err != nil {
		return none, err
	}
	return connectMaster(ctx, cl, at, name, setUp)
}

// connectAny connects to the first server of a cluster that takes the login.
func connectAny[C any](ctx context.Context, cl *Client, name string, setUp func(c *Conn) (C, error)) (C, error) {
	var none C
	if _, err := cl.cluster.view(ctx); err != nil {
		return none, err
	}
	var errs []error
	for _, at := range cl.cluster.servers() {
		made, err := connectMaster(ctx, cl, at, name, setUp)
		if err == nil {
			return made, nil
		}
		if errs = append(errs, err); ctx.Err() != nil {
			break
		}
	}
	return none, errors.Join(errs...)
}

// connectMaster is connect to a server that was named as a master. The connection ends when another one is.
func connectMaster[C any](ctx context.Context, cl *Client, at kit.Server, name string, setUp func(c *Conn) (C, error)) (C, error) {
	master := cl.masters.at(cl.Life, at.Address)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(master, func() { cancel(context.Cause(master)) })()
	var referred error // to another server: the address is not to blame
	made, err := connectTo(ctx, cl, []kit.Server{at}, name, func(c *Conn) (C, error) {
		if err := cl.leads(c); err != nil {
			var none C
			return none, err
		}
		c.master = master
		c.forget = context.AfterFunc(master, func() { c.Conn.Close() })
		made, err := setUp(c)
		if err == nil {
			return made, nil
		}
		c.forget()
		if err = cl.Referred(at.Address, err); isElsewhere(err) {
			referred = cl.Wrap(err, "ask %s", at.Address)
		}
		return made, err
	})
	if err != nil && cl.cluster != nil {
		cl.cluster.suspect()
	}
	return made, cmp.Or(referred, err)
}

// alone is a setUp that does nothing.
func alone(c *Conn) (*Conn, error) { return c, nil }

// serverHint says what a server that answers strangely most likely is.
const serverHint = "is this a Redis server, with TLS for rediss:// and without for redis://?"

// connectTo connects to the first of the servers that takes the login.
func connectTo[C any](ctx context.Context, cl *Client, servers []kit.Server, name string, setUp func(c *Conn) (C, error)) (C, error) {
	return connectIn(ctx, cl, servers, name, kit.Connecting{Timeout: cl.Options.ConnectTimeout, Hint: serverHint}, setUp)
}

func connectIn[C any](ctx context.Context, cl *Client, servers []kit.Server, name string, how kit.Connecting, setUp func(c *Conn) (C, error)) (C, error) {
	return kit.Connect(ctx, cl.Base, servers, how, func(_ context.Context, raw kit.Conn) (C, error) {
		c := &Conn{Conn: raw, redis: redis.NewConn(raw.Conn, 0, 0)}
		if err := cl.logIn(c, name); err != nil {
			var none C
			return none, err
		}
		return setUp(c)
	})
}

func (cl *Client) logIn(c *Conn, name string) error {
	if cl.User != "" || cl.Secret != "" {
		args := []any{cl.Secret}
		if cl.User != "" {
			args = []any{cl.User, cl.Secret}
		}
		if _, err := c.Do("AUTH", args...); err != nil {
			return cl.firstWords(err)
		}
	}
	// The first word to those who need not log in, and for these the proof of it.
	if _, err := c.Do("PING"); err != nil && !IsReply(err, "NOPERM") {
		return cl.firstWords(err)
	}
	if n := cl.Options.Database; n > 0 {
		if _, err := c.Do("SELECT", strconv.Itoa(n)); err != nil {
			return fmt.Errorf("database %d: %w", n, Explain(err))
		}
	}
	if cl.Options.Name != "" {
		// Only there to be seen: who may not give a name goes without.
		_, err := c.Do("CLIENT", "SETNAME", cl.Target.Prefix+cl.Options.Name+"-"+cl.Target.Run+"-"+name)
		if _, refused := ReplyText(err); !refused {
			return err
		}
	}
	return nil
}

// firstWords explains an error from the time before the server has answered at all.
// With TLS 1.3 one that refuses the client's certificate hangs up when the client takes
// itself for connected.
func (cl *Client) firstWords(err error) error {
	if _, said := ReplyText(err); !said && cl.asked.Load() {
		return fmt.Errorf("%w: %w; does it want a client's certificate, or another one (tls.cert, tls.key)?", driver.ErrUnauthorized, err)
	}
	return Explain(err)
}

// NewLink returns a link with the role and the name, which is not connected. What setUp makes of a
// connection that has logged in serves it. In a cluster it leads to the server that has the slot of to.
func NewLink[W any, P interface {
	*W
	kit.Wire
}](cl *Client, role kit.Role, to, name string, setUp func(c *Conn) (*W, error)) *kit.Link[W, P] {
	return kit.NewLink[W, P](cl.Base, kit.LinkConfig[W]{
		Name: name, Role: role, Passes: passes, Wait: cl.Options.ReconnectWait,
		GiveUp: func(tried int) bool { return cl.Options.MaxReconnects >= 0 && tried >= cl.Options.MaxReconnects },
		Dial: func(ctx context.Context) (*W, error) {
			return connect(ctx, cl, to, name, setUp)
		},
	})
}

// Lost says why a connection ended: because another server was made the master, else because of why, which who read from it
// was told. Who is a master is asked again.
func (cl *Client) Lost(c *Conn, why error) error {
	if cl.cluster != nil {
		cl.cluster.suspect()
	}
	if c.master != nil && c.master.Err() != nil {
		return context.Cause(c.master)
	}
	return why
}

// unsent is the outcome of what was not written on a connection that ended with err, see
// kit.Wire.
func (cl *Client) unsent(err error) error {
	if errors.Is(err, driver.ErrClosed) {
		return err
	}
	return fmt.Errorf("%s: %w: unwritten when the connection was lost", cl.Driver, driver.ErrNotConnected)
}

// redigo names the library with its version.
func redigo() semantics.Client { return kit.Library("redigo", "github.com/gomodule/redigo") }

// software names by what messages are sent and received.
func (cl *Client) software() semantics.Client {
	software := redigo()
	if cl.Via == Direct {
		software.Kind = semantics.Direct
	}
	return software
}

// batches reports whether producers collect messages until they are flushed, or sooner.
func (cl *Client) batches() bool { return cl.Options.WriteBuffer > 1 }

// batching says in words how producers write. A message is called what: "publish".
func (cl *Client) batching(what string, silent bool) string {
	switch {
	case !cl.batches():
		return "none, each " + what + " is written on the sender's thread"
	case silent:
		return fmt.Sprintf("up to %s, until flushed, or 5 to 10 ms", cl.Options.WriteBuffer)
	}
	return fmt.Sprintf("up to %s, until flushed, or as many as are out without an answer", cl.Options.WriteBuffer)
}

// warnings say what the library cannot tell of outcomes.
func (cl *Client) warnings() []string {
	if cl.Via == Library {
		return []string{"redigo does not tell what it had written when a connection was lost: what was not counts as unknown too"}
	}
	return nil
}
