package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sixnines/internal/filelock"
	"sixnines/internal/fleet/wire"
)

// lines is what was logged.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) get() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.all...)
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("waited 30s until %s\n%s", what, buf[:runtime.Stack(buf, true)])
		}
	}
}

func start(t *testing.T, dir string, log *lines) *Server {
	t.Helper()
	o := Options{Dir: dir, Host: "127.0.0.1"}
	if log != nil {
		o.Log = log.add
	}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func connect(t *testing.T, l wire.Login) *nats.Conn {
	t.Helper()
	nc, err := wire.Connect(t.Context(), l, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func TestAControlPlaneKeepsWhatItHas(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	dir := filepath.Join(t.TempDir(), "control")
	var logins []wire.Login
	for restart := range 2 {
		s := start(t, dir, nil)
		l := s.Login()
		nc, err := wire.Connect(t.Context(), l, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if restart == 0 {
			if _, err := MakeStream(t.Context(), nc, "r1", 1<<20); err != nil {
				t.Fatal(err)
			}
			if _, err := MakeStream(t.Context(), nc, "r1", 1<<20); !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
				t.Errorf("the same stream again: %v", err)
			}
		}
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		if ack, err := js.Publish(t.Context(), wire.RecordSubject("r1", "A"), []byte("x")); err != nil || ack.Sequence != uint64(restart+1) {
			t.Errorf("start %d: %+v, %v", restart+1, ack, err)
		}
		if _, err := Start(t.Context(), Options{Dir: dir}); !errors.Is(err, filelock.ErrBusy) {
			t.Errorf("another one in the same directory: %v", err)
		}
		logins = append(logins, l)
		nc.Close()
		s.Close()
	}
	if a, b := logins[0], logins[1]; a.Token != b.Token || a.Pin != b.Pin || len(a.Token) < 40 {
		t.Error("the token or the certificate changed")
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		if name := d.Name(); runtime.GOOS != "windows" && (path == dir || name == "token" || name == "certificate.pem") && i.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may look into %s: %v", path, i.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the servers' goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines })
}

// Whoever is not let in learns nothing, and is one line in the log.
func TestStrangersAreNotLetIn(t *testing.T) {
	log := &lines{}
	s := start(t, t.TempDir(), log)
	defer s.Close()
	good := s.Login()
	elsewhere := start(t, t.TempDir(), nil)
	defer elsewhere.Close()

	plain, token, pin, authority := good, good, good, good
	plain.URL, plain.Pin = strings.Replace(good.URL, "tls:", "nats:", 1), ""
	token.Token = "wrong" + good.Token
	pin.Pin = elsewhere.Login().Pin
	authority.Pin, authority.CA = "", filepath.Join(t.TempDir(), "ca.pem")
	other, err := os.ReadFile(filepath.Join(filepath.Dir(elsewhere.server.StoreDir()), "..", "certificate.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(authority.CA, other, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		login  wire.Login
		logged bool // the client learns it from the certificate, and the server at least that it went
	}{{"wrong token", token, true}, {"no token", wire.Login{URL: good.URL, Pin: good.Pin}, true}, {"wrong pin", pin, false}} {
		before := len(log.get())
		nc, err := wire.Connect(t.Context(), tt.login, nil, nil)
		if err == nil {
			nc.Close()
		}
		if !errors.Is(err, wire.ErrRefused) || strings.Contains(err.Error(), good.Token) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.logged {
			until(t, tt.name+" is in the log", func() bool { return len(log.get()) == before+1 })
		}
	}
	// Without a certificate to compare with, or without TLS, the server says nothing at all: these wait for it in vain.
	for name, l := range map[string]wire.Login{"wrong authority": authority, "no TLS": plain} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		nc, err := wire.Connect(ctx, l, nil, nil)
		cancel()
		if err == nil {
			nc.Close()
			t.Errorf("%s: it is let in", name)
		}
	}
	c, err := net.Dial("tcp", s.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it says %d bytes before the handshake, %v", n, err)
	}
	for _, line := range log.get() {
		if strings.Contains(line, good.Token) {
			t.Errorf("a secret is in the log: %s", line)
		}
	}
	connect(t, good)
}

func TestAPortThatIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := t.TempDir()
	port := l.Addr().(*net.TCPAddr).Port
	if s, err := Start(t.Context(), Options{Dir: dir, Host: "127.0.0.1", Port: port}); err == nil {
		s.Close()
		t.Error("it starts where something else listens")
	} else if !strings.Contains(err.Error(), "in use") && runtime.GOOS == "linux" {
		t.Error(err)
	}
	start(t, dir, nil).Close() // nothing of the first attempt is left
}

func TestTheLineToPaste(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	defer s.Close()
	l := s.JoinAt("10.0.0.1")
	if l.Token == s.Login().Token {
		t.Error("agents are given the token of coordinators")
	}
	if got, want := s.Line("10.0.0.1"), "SIXNINES_FLEET_TOKEN="+l.Token+" sixnines agent --join "+l.URL+" --pin "+l.Pin; got != want {
		t.Errorf("%s; want %s, since it listens there alone", got, want)
	}
	s.host = ""
	if got := s.Line("10.0.0.1"); !strings.Contains(got, "--join tls://10.0.0.1:") {
		t.Error(got)
	}
}

// plainServer is a NATS server as users have them under test.
func plainServer(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server is not ready")
	}
	return s
}

func TestTheServerUnderTestIsNotTheControlPlane(t *testing.T) {
	one, other := plainServer(t), plainServer(t)
	nc := connect(t, wire.Login{URL: one.ClientURL()})
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent.Close() // nobody answers there
	for _, tt := range []struct {
		target string
		same   bool
	}{
		{other.ClientURL(), false},
		{one.ClientURL(), true},
		{"mqtt://" + one.Addr().String(), true},
		{one.Addr().String(), true},
		{other.ClientURL() + "," + one.ClientURL(), true},
		{"nats://" + silent.Addr().String(), false},
		{"kafka", false},
		{"", false},
	} {
		err := Apart(t.Context(), nc, tt.target)
		if under := (*Under)(nil); errors.As(err, &under) != tt.same || (err == nil) == tt.same {
			t.Errorf("%s: %v", tt.target, err)
		}
	}
}

// Runs that nobody finished keep no space from the next one, neither on our control plane nor on one with little.
func TestUnfinishedRunsKeepNoSpace(t *testing.T) {
	s, err := Start(t.Context(), Options{Dir: t.TempDir(), Host: "127.0.0.1", Store: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	nc := connect(t, s.Login())
	for i := range 6 {
		if _, err := MakeStream(t.Context(), nc, fmt.Sprintf("r%d", i), 0); err != nil {
			t.Fatalf("after %d runs: %v", i, err)
		}
	}
	if _, err := MakeStream(t.Context(), nc, "r6", 2<<20); err == nil {
		t.Error("a stream may be larger than the server") // else this shows nothing
	}
	if all, err := Runs(t.Context(), nc); err != nil || len(all) != 6 {
		t.Errorf("%d runs, %v: a new run has no messages either, and stays", len(all), err)
	}
}

// Brokers that say nothing first, as most do, take no longer the more addresses they have: all are asked at once.
func TestSilentBrokersAreAskedAtOnce(t *testing.T) {
	const brokers = 5
	nc := connect(t, wire.Login{URL: plainServer(t).ClientURL()})
	var targets []string
	var mu sync.Mutex
	open, most := 0, 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		open += n
		most = max(most, open)
	}
	var all sync.WaitGroup
	for range brokers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close(); all.Wait() })
		targets = append(targets, "kafka://"+l.Addr().String())
		all.Go(func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			count(1)
			_, _ = c.Read(make([]byte, 1)) // until the other side has had enough
			count(-1)
		})
	}
	if err := Apart(t.Context(), nc, strings.Join(targets, ",")); err != nil {
		t.Error(err)
	}
	mu.Lock()
	if most < 2 {
		t.Errorf("%d of %d addresses were asked at a time", most, brokers)
	}
	mu.Unlock()
	for i := range mostTargets {
		targets = append(targets, fmt.Sprintf("127.0.0.1:%d", 1+i))
	}
	if err := Apart(t.Context(), nc, strings.Join(targets, ",")); err == nil || errors.As(err, new(*Under)) {
		t.Errorf("%d addresses: %v", len(targets), err)
	}
}

// A control plane that is given keys has those, whatever it had before, and keeps them.
func TestKeysThatWereMadeBefore(t *testing.T) {
	keys, dir := filepath.Join(t.TempDir(), "keys"), t.TempDir()
	pin, err := MakeKeys(keys, "control.example")
	if err != nil {
		t.Fatal(err)
	}
	start(t, dir, nil).Close() // with keys of its own
	s, err := Start(t.Context(), Options{Dir: dir, Host: "127.0.0.1", Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, login := range map[string]wire.Login{tokenFile: s.Login(), joinFile: s.JoinAt("127.0.0.1")} {
		secret, err := os.ReadFile(filepath.Join(keys, name))
		if err != nil {
			t.Fatal(err)
		}
		if login.Token != string(secret) || login.Pin != pin {
			t.Errorf("%s and certificate are not those that were made", name)
		}
	}
	there, err := Running(dir)
	if err != nil || there.Token != s.Login().Token || there.Pin != pin {
		t.Errorf("another process does not find them: %v", err)
	}
	if _, err := Start(t.Context(), Options{Dir: t.TempDir(), Host: "127.0.0.1", Keys: t.TempDir()}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory without keys: %v", err)
	}
}
