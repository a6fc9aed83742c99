package control

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sixnines/internal/clocksync"
	"sixnines/internal/filelock"
	"sixnines/internal/fleet/wire"
)

// Options say how a control plane is started.
type Options struct {
	// Dir is its directory; it is made if it is not there. A control plane that is started where another one was
	// has the same certificate, token and streams.
	Dir string
	// Keys, if not empty, is a directory with keys that were made before, see [MakeKeys], which it has from now on.
	Keys string
	// Host and Port are where it listens; all addresses without a host, and a free port without a port.
	Host string
	Port int
	// Store is the most bytes that all streams take on the disk; 8 GiB by default.
	Store int64
	// Log, if not nil, is called with each line that the server logs as a warning or an error. It holds no secrets.
	Log func(line string)
}

// DefaultStore is the default of Options.Store.
const DefaultStore = 8 << 30

// maxPayload is the longest message: that of a plan with a long scenario, and not much more.
const maxPayload = 4 << 20

// Server is a control plane in this process. Its connections are encrypted, and clients need one of its tokens: see access. It
// answers questions for the time, too, see [DialTime].
type Server struct {
	server *server.Server
	time   *clocksync.Socket // nil: it does not
	unlock func()
	keep   keep
	host   string
	port   int
}

// Start starts a control plane. It is ready when Start returns.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	doing := func(err error) error { return fmt.Errorf("start the control plane in %s: %w", o.Dir, err) }
	if err := ownDir(o.Dir); err != nil {
		return nil, doing(err)
	}
	unlock, err := filelock.Take(filepath.Join(o.Dir, "lock"))
	if err != nil {
		return nil, doing(err)
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	if err := takeKeys(o.Keys, o.Dir); err != nil {
		return nil, doing(err)
	}
	keep, err := keepIn(o.Dir, nil)
	if err != nil {
		return nil, doing(err)
	}
	if o.Port, err = portIn(o.Dir, o.Port); err != nil {
		return nil, doing(err)
	}
	log := &logger{say: o.Log}
	s, err := server.NewServer(&server.Options{
		ServerName: keep.name, Host: o.Host, Port: cmp.Or(o.Port, server.RANDOM_PORT),
		NoSigs: true,                                          // signals are the program's
		TLS:    true, TLSTimeout: 10, TLSHandshakeFirst: true, // nothing is said before the handshake
		TLSConfig:                  &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{keep.pair}},
		CustomClientAuthentication: &access{keep.token, keep.join}, AlwaysEnableNonce: true, AuthTimeout: 10,
		MaxPayload: maxPayload, MaxConn: 2 * wire.MaxAgents,
		JetStream: true, StoreDir: filepath.Join(o.Dir, "store"), SyncAlways: true,
		JetStreamMaxStore: cmp.Or(o.Store, DefaultStore), JetStreamMaxMemory: 64 << 20,
	})
	if err != nil {
		return nil, doing(err)
	}
	s.SetLoggerV2(log, false, false, false)
	s.Start()
	stop := func() {
		s.Shutdown()
		s.WaitForShutdown()
	}
	for ready := false; !ready; ready = s.ReadyForConnections(50 * time.Millisecond) {
		cause := log.failed()
		if cause == nil {
			cause = context.Cause(ctx)
		}
		if cause != nil {
			stop()
			return nil, doing(cause)
		}
	}
	log.ready.Store(true)
	if cause := log.failed(); cause != nil || !s.JetStreamEnabled() {
		stop()
		return nil, doing(cmp.Or(cause, errors.New("its streams could not be opened")))
	}
	at := s.Addr().(*net.TCPAddr)
	c := &Server{server: s, unlock: unlock, keep: keep, host: o.Host, port: at.Port}
	if err := c.note(o.Dir); err != nil {
		stop()
		return nil, doing(err)
	}
	c.time = tellTime(at.AddrPort(), &keep)
	return c, nil
}

// Login is how this process connects to it.
func (s *Server) Login() wire.Login { return s.login("127.0.0.1", s.keep.token) }

// JoinAt is how agents connect to it, by a host that is an address of this machine.
func (s *Server) JoinAt(host string) wire.Login { return s.login(host, s.keep.join) }

func (s *Server) login(host, token string) wire.Login {
	if ip := net.ParseIP(s.host); ip != nil && !ip.IsUnspecified() {
		host = s.host
	}
	return wire.Login{URL: "tls://" + net.JoinHostPort(host, strconv.Itoa(s.port)), Token: token, Pin: s.keep.pin()}
}

// Line is the command that makes another machine an agent of this control plane, which it reaches at host. It
// has the token in the environment, which other users of that machine cannot read.
func (s *Server) Line(host string) string {
	l := s.JoinAt(host)
	return fmt.Sprintf("%s=%s sixnines agent --join %s --pin %s", wire.TokenVariable, l.Token, l.URL, l.Pin)
}

// Close ends it. Its directory stays.
func (s *Server) Close() {
	if s.time != nil {
		s.time.Close()
	}
	s.server.Shutdown()
	s.server.WaitForShutdown()
	s.unlock()
}
