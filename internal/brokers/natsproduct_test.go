package brokers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// deployed starts the product for the test with this test binary as the server.
func deployed(t *testing.T, o Options) *Cluster {
	t.Helper()
	o.Home = natsHome()
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	c, err := Start(ctx, NATS(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func natsHome() Home {
	// The race detector waits a second before a process ends.
	return Home{Self: []string{os.Args[0]}, Environ: append(os.Environ(), role+"=nats", "GORACE=atexit_sleep_ms=0")}
}

func connected(t *testing.T, url string, o ...nats.Option) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(url, append([]nats.Option{nats.Timeout(patience)}, o...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

func restarted(t *testing.T, c *Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	_, killed := c.Kill(ctx)
	_, resumed := c.Resume(ctx)
	if err := errors.Join(killed, resumed); err != nil {
		t.Fatal(err)
	}
}

func TestNATSProduct(t *testing.T) {
	c := deployed(t, Options{User: "ada", Password: `"lovelace" \1`, MaxMessage: 3 << 20, Settings: map[string]string{
		"jetstream.sync_interval": "always", "max_connections": "77",
	}})
	t.Logf("%s %s (%s) at %s in %s", c.Product, c.Version, c.Origin, c.URL, c.Dir)
	if c.Origin != builtIn || c.Version == "" || c.URLFor("jetstream") != c.URL {
		t.Errorf("reported as %+v", c)
	}
	if _, err := nats.Connect(c.URL, nats.UserInfo("ada", "byron")); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("with a wrong password: %v", err)
	}
	login := nats.UserInfo("ada", `"lovelace" \1`)
	nc, js := connected(t, c.URL, login)
	if nc.MaxPayload() != 3<<20 {
		t.Errorf("it carries %d bytes", nc.MaxPayload())
	}
	var varz struct {
		MaxConn   int `json:"max_connections"`
		JetStream struct {
			Config struct {
				StoreDir string `json:"store_dir"`
				Sync     bool   `json:"sync_always"`
			}
		}
	}
	if err := ask(t.Context(), c.Info["monitoring"]+"/varz", &varz); err != nil {
		t.Fatal(err)
	}
	if varz.MaxConn != 77 || !varz.JetStream.Config.Sync || !strings.HasPrefix(varz.JetStream.Config.StoreDir, c.Dir) {
		t.Errorf("in effect are %+v", varz)
	}
	stream := jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}
	if _, err := js.CreateStream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "s", make([]byte, 3<<20-1000)); err != nil {
		t.Fatal(err)
	}
	before := c.Nodes()[0].PID
	restarted(t, c)
	if c.Nodes()[0].PID == before {
		t.Error("the process is the same after a restart")
	}
	_, js = connected(t, c.URL, login)
	s, err := js.Stream(t.Context(), "S")
	if err != nil {
		t.Fatal(err)
	}
	if n := s.CachedInfo().State.Msgs; n != 1 {
		t.Errorf("%d messages survive", n)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", c.Dir, err)
	}
}

// A server whose data stay gets the time to stop cleanly.
func TestNATSStopsBySignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM")
	}
	dir := filepath.Join(t.TempDir(), "kept")
	c := deployed(t, Options{Dir: dir})
	i := c.Nodes()[0]
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitDone(t, i)
	if i.status != nil {
		t.Errorf("asked to end by SIGTERM, it ended with %v: %s", i.status, i.lastWords())
	}
	if _, err := os.Stat(filepath.Join(dir, "nats-1", "store", "jetstream")); err != nil {
		t.Errorf("its data are gone: %v", err)
	}
}

func TestNATSCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("elections take their time")
	}
	c := deployed(t, Options{Nodes: 3})
	urls := strings.Split(c.URL, ",")
	if len(urls) != 3 || len(c.Nodes()) != 3 {
		t.Fatalf("%d nodes at %s", len(c.Nodes()), c.URL)
	}
	_, js := connected(t, c.URL)
	stream := jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: 3}
	if _, err := js.CreateStream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		// A stream that was just made may have no leader that listens yet.
		if _, err := js.Publish(t.Context(), "s", []byte("hello"), jetstream.WithRetryAttempts(100), jetstream.WithRetryWait(100*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
	}
	restarted(t, c)
	for _, url := range urls {
		_, js := connected(t, url)
		s, err := js.Stream(t.Context(), "S")
		if err != nil {
			t.Fatal(err)
		}
		if i := s.CachedInfo(); i.State.Msgs != 10 || len(i.Cluster.Replicas) != 2 {
			t.Errorf("%s: after all were killed and came back: %+v, %+v", url, i.State, i.Cluster)
		}
	}
}

func TestNATSListensToMQTT(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		if nodes > 1 && testing.Short() {
			continue
		}
		c := deployed(t, Options{Nodes: nodes, User: "ada", Password: "lovelace"})
		u, err := url.Parse(c.URLFor("mqtt"))
		if err != nil || u.Scheme != "mqtt" {
			t.Fatalf("%q: %v", c.URLFor("mqtt"), err)
		}
		for password, want := range map[string]byte{"lovelace": 0, "byron": 5} {
			if got := mqttConnect(t, u.Host, "ada", password); got != want {
				t.Errorf("%d nodes: a client with password %q is told %d, not %d", nodes, password, got, want)
			}
		}
	}
}

// mqttConnect sends an MQTT 3.1.1 CONNECT and returns the code of the answer. The server
// makes its streams at the first one, and hangs up where that takes more than four
// seconds: it is asked again.
func mqttConnect(t *testing.T, address, user, password string) byte {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		code, err := mqttConnectOnce(t, address, user, password, end)
		if err == nil {
			return code
		}
		if !errors.Is(err, io.EOF) || time.Now().After(end) {
			t.Fatalf("%s: %v", address, err)
		}
	}
}

func mqttConnectOnce(t *testing.T, address, user, password string, end time.Time) (byte, error) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(end)
	text := func(s string) string { return string([]byte{0, byte(len(s))}) + s }
	body := text("MQTT") + "\x04\xc2\x00\x3c" + text("test") + text(user) + text(password)
	if _, err := io.WriteString(c, "\x10"+string(rune(len(body)))+body); err != nil {
		t.Fatal(err)
	}
	var ack [4]byte
	if _, err := io.ReadFull(c, ack[:]); err != nil {
		return 0, err
	}
	if ack[0] != 0x20 {
		t.Fatalf("%s answers % x", address, ack)
	}
	return ack[3], nil
}

func TestNATSWithoutJetStream(t *testing.T) {
	for name, value := range map[string]string{"jetstream": "false", "jetstream.enabled": "false"} {
		c := deployed(t, Options{Settings: map[string]string{name: value}})
		nc, _ := connected(t, c.URL)
		if has, _ := nc.ConnectedServerJetStream(); has {
			t.Errorf("%s: %s: it has JetStream all the same", name, value)
		}
		if u, ok := c.urls["mqtt"]; ok {
			t.Errorf("%s: %s: without JetStream there is no MQTT, but it is said to be at %s", name, value, u)
		}
	}
}

// A configuration that the server refuses is an error that repeats its words.
func TestNATSRefusesNonsense(t *testing.T) {
	for name, want := range map[string]string{
		"no_such_thing":           "no_such_thing",
		"jetstream.no_such_thing": "no_such_thing",
		"a b":                     "give the name of a line",
		"jetstream..x":            "give the name of a line",
		"jetstream.x{":            "give the name of a line",
	} {
		c, err := Start(t.Context(), NATS(), Options{Home: natsHome(), Settings: map[string]string{name: "1"}})
		if err == nil {
			c.Stop(t.Context())
			t.Errorf("%s: it started", name)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v does not say %q", name, err, want)
		}
	}
	twice := map[string]string{"jetstream": "true", "jetstream.sync_interval": "always"}
	if c, err := Start(t.Context(), NATS(), Options{Home: natsHome(), Settings: twice}); err == nil {
		c.Stop(t.Context())
		t.Error("a block and a line of it at once are accepted")
	}
}

func TestNATSIsFound(t *testing.T) {
	in, err := NATS().Find(t.Context(), natsHome())
	if err != nil || in.Origin != builtIn || in.Version == "" {
		t.Errorf("%+v, %v", in, err)
	}
	if _, err := NATS().Find(t.Context(), Home{}); err == nil {
		t.Error("it is found where nothing says how to run it")
	}
	h := natsHome()
	h.Environ = append(h.Environ, "NATS_SERVER="+filepath.Join(t.TempDir(), "absent"))
	if _, err := NATS().Find(t.Context(), h); err == nil || !strings.Contains(err.Error(), "NATS_SERVER") {
		t.Errorf("a program that is not there: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	script := filepath.Join(t.TempDir(), "nats-server")
	text := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] && echo nats-server: v0.0.7 && exit\nexec %s \"$@\"\n", os.Args[0])
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	h.Environ = append(h.Environ, "NATS_SERVER="+script)
	c, err := Start(t.Context(), NATS(), Options{Home: h})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop(t.Context())
	if c.Version != "0.0.7" || c.Origin != "named by NATS_SERVER" {
		t.Errorf("reported as %s, %s", c.Version, c.Origin)
	}
	connected(t, c.URL)
}

// A detached server outlives the end of its input, and ends by a signal.
func TestServeNATSDetached(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM")
	}
	c := deployed(t, Options{Detach: true})
	i := c.Nodes()[0]
	if i.stdin != nil {
		t.Error("it has an input")
	}
	nc, _ := connected(t, c.URL)
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := i.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitDone(t, i)
	if i.status != nil {
		t.Errorf("it ended with %v: %s", i.status, i.lastWords())
	}
}

func TestServeNATSConfigured(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte("listen: \"127.0.0.1:-1\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	if code := ServeNATS(strings.NewReader(""), &stderr, []string{"-c", file}); code != 0 {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	if code := ServeNATS(strings.NewReader(""), &stderr, []string{"-c", file + ".absent"}); code != 1 || !strings.Contains(stderr.String(), ".absent") {
		t.Errorf("without the file: exit code %d: %s", code, &stderr)
	}
}

func TestNATSSettings(t *testing.T) {
	s := natsSettings{"b.x": "1", "b.y.z": "2", "a": "3"}
	if err := s.overlay(map[string]string{"b.y": "{}", "c.d": "x"}); err != nil {
		t.Fatal(err)
	}
	const want = "a: 3\nb {\n\tx: 1\n\ty: {}\n}\nc {\n\td: x\n}\n"
	if got := s.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNATSMonitoringRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.NotFoundHandler()}
	go s.Serve(l)
	defer s.Close()
	if err := ask(t.Context(), "http://"+l.Addr().String(), new(any)); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("%v", err)
	}
	if err := greetedByNATS(t.Context(), l.Addr().String(), false); err == nil {
		t.Error("a web server greets like NATS")
	}
}
