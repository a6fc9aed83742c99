package brokers_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// redisSays sends inline commands, one a line, and returns the lines of the
// answers. With t not nil the connection is encrypted.
func redisSays(t *testing.T, address string, over *driver.TLS, commands ...string) []string {
	t.Helper()
	lines, err := redisAnswers(address, over, commands...)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func redisAnswers(address string, over *driver.TLS, commands ...string) ([]string, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if over != nil {
		config, err := over.Config("127.0.0.1")
		if err != nil {
			return nil, err
		}
		conn = tls.Client(conn, config)
	}
	if _, err := io.WriteString(conn, strings.Join(append(commands, "QUIT"), "\r\n")+"\r\n"); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(conn)
	if lines := strings.Split(strings.TrimSpace(string(text)), "\r\n"); len(lines) > 1 {
		return lines[:len(lines)-1], nil
	}
	if err == nil {
		err = errors.New("no answer")
	}
	return nil, err
}

func TestRedisRunsAndComesBack(t *testing.T) {
	c := brokertest.Start(t, "redis", brokers.Options{})
	t.Logf("%s %s (%s) at %s in %s", c.Product, c.Version, c.Origin, c.URL, c.Dir)
	address := brokertest.Address(t, c.URL)
	if got := redisSays(t, address, nil, "PING"); got[0] != "+PONG" {
		t.Errorf("the server says %q", got)
	}
	before := c.Nodes()[0].PID
	brokertest.Restart(t, c)()
	if got := redisSays(t, address, nil, "PING"); got[0] != "+PONG" || c.Nodes()[0].PID == before {
		t.Errorf("after a restart process %d, which was %d, says %q", c.Nodes()[0].PID, before, got)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", c.Dir, err)
	}
}

// TestRedisKeepsData kills a server that is set to keep what it has been given,
// and one that is not.
func TestRedisKeepsData(t *testing.T) {
	for _, tt := range []struct {
		name     string
		settings map[string]string
		want     string
	}{
		{"memory", nil, "$-1"},
		{"append-only file", map[string]string{"appendonly": "yes", "appendfsync": "always"}, "$5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := brokertest.Start(t, "redis", brokers.Options{Settings: tt.settings})
			address := brokertest.Address(t, c.URL)
			if got := redisSays(t, address, nil, "SET key value"); got[0] != "+OK" {
				t.Fatalf("the server says %q", got)
			}
			brokertest.Restart(t, c)()
			if got := redisSays(t, address, nil, "GET key"); got[0] != tt.want {
				t.Errorf("after a restart the server says %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRedisWantsLogins(t *testing.T) {
	const password = `a "b" \c 'd' é`
	for _, user := range []string{"", "ada"} {
		t.Run("user "+user, func(t *testing.T) {
			c := brokertest.Start(t, "redis", brokers.Options{User: user, Password: password})
			address := brokertest.Address(t, c.URL)
			if got := redisSays(t, address, nil, "PING"); !strings.HasPrefix(got[0], "-NOAUTH") {
				t.Errorf("to somebody unknown the server says %q", got)
			}
			auth := "AUTH " + user + ` "a \"b\" \\c 'd' é"`
			if got := redisSays(t, address, nil, auth, "PING"); got[0] != "+OK" || got[1] != "+PONG" {
				t.Errorf("to the user the server says %q", got)
			}
		})
	}
}

func TestRedisEncrypts(t *testing.T) {
	certificates := brokertest.NewCertificates(t)
	for _, clients := range []bool{false, true} {
		c := brokertest.Start(t, "redis", brokers.Options{TLS: certificates.Server(clients), User: "ada", Password: "lovelace"})
		if !strings.HasPrefix(c.URL, "rediss://") {
			t.Errorf("the URL is %s", c.URL)
		}
		address := brokertest.Address(t, c.URL)
		if got := redisSays(t, address, certificates.Client(true), "AUTH ada lovelace", "PING"); got[0] != "+OK" || got[1] != "+PONG" {
			t.Errorf("with a certificate the server says %q", got)
		}
		if got, err := redisAnswers(address, certificates.Client(false), "AUTH ada lovelace"); (err != nil) != clients {
			t.Errorf("without a certificate, which is wanted (%v), the server says %q, %v", clients, got, err)
		}
		if got, err := redisAnswers(address, nil, "AUTH ada lovelace"); err == nil {
			t.Errorf("without encryption the server says %q", got)
		}
	}
}

// Directories may have spaces in their names, and what else the configuration quotes.
func TestRedisInADirectoryWithSpaces(t *testing.T) {
	dir, err := os.MkdirTemp("", `a "b" é`) // short, as the socket's path has to be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	c := brokertest.Start(t, "redis", brokers.Options{})
	if got := redisSays(t, brokertest.Address(t, c.URL), nil, "SET key value"); got[0] != "+OK" {
		t.Errorf("the server says %q", got)
	}
}

func TestRedisSettings(t *testing.T) {
	c := brokertest.Start(t, "redis", brokers.Options{MaxMessage: 2 << 20, Settings: map[string]string{"maxmemory": "100mb", "unixsocket": ""}})
	address := brokertest.Address(t, c.URL)
	for name, want := range map[string]string{"proto-max-bulk-len": "2097152", "maxmemory": "104857600", "unixsocket": ""} {
		if got := redisSays(t, address, nil, "CONFIG GET "+name); got[len(got)-1] != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, bad := range []brokers.Options{
		{Settings: map[string]string{"maxmemory": "1mb\nport 1"}},
		{Settings: map[string]string{"no-such-setting": "1"}},
		{User: "ada lovelace", Password: "x"},
		{Nodes: 2},
		{Settings: map[string]string{"sentinel.quorum": "1"}},
		{Nodes: 3, Settings: map[string]string{"replicaof": "127.0.0.1 1"}},
		{Nodes: 3, Settings: map[string]string{"tls-port": "1"}},
	} {
		bad.Home = brokertest.Home(t)
		product, _ := brokers.Lookup("redis")
		if c, err := brokers.Start(t.Context(), product, bad); err == nil {
			c.Stop(t.Context())
			t.Errorf("%+v starts", bad)
		} else {
			t.Log(err)
		}
	}
}
