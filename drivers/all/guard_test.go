package all_test

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/nats-io/nats-server/v2/server"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// deed is what a user may be forbidden to do.
type deed string

const (
	publishing  deed = "publish"
	subscribing deed = "subscribe"
	// What publishing to Kafka takes besides.
	describing  deed = "describe"
	transacting deed = "write by a transactional id"
)

// guard is a broker that asks for logins, seen by its administrator. The methods are safe
// for concurrent use.
type guard interface {
	// url is where the driver connects.
	url(driver string) string
	// rule makes the user, or changes him: his password, and what he may not do. It
	// returns when that is in force for what is asked from then on.
	rule(user, password string, forbidden ...deed) error
}

// natsGuard is a NATS server within the test.
type natsGuard struct {
	s     *server.Server
	store string
	// denies are subjects to which what is forbidden publishes, of a protocol above NATS.
	denies map[deed]string

	mu    sync.Mutex
	users []*server.User
}

func guardNATS(t *testing.T) guard {
	g := &natsGuard{store: t.TempDir()}
	var err error
	if g.s, err = server.NewServer(g.options(server.RANDOM_PORT)); err != nil {
		t.Fatal(err)
	}
	g.s.Start()
	t.Cleanup(func() { g.s.Shutdown(); g.s.WaitForShutdown() })
	if !g.s.ReadyForConnections(refusalPatience) {
		t.Fatal("the server does not listen")
	}
	return g
}

func (g *natsGuard) options(port int) *server.Options {
	return &server.Options{Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true, JetStream: true, StoreDir: g.store,
		Users: append([]*server.User{{Username: "root", Password: "root"}}, g.users...)}
}

func (g *natsGuard) url(string) string { return g.s.ClientURL() }

func (g *natsGuard) rule(user, password string, forbidden ...deed) error {
	u := &server.User{Username: user, Password: password, Permissions: &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{">"}}, Subscribe: &server.SubjectPermission{Allow: []string{">"}}}}
	for d, subject := range g.denies {
		if slices.Contains(forbidden, d) {
			u.Permissions.Publish.Deny = append(u.Permissions.Publish.Deny, subject)
		}
	}
	if slices.Contains(forbidden, publishing) && g.denies == nil {
		u.Permissions.Publish.Deny = []string{"s9.>"}
	}
	if slices.Contains(forbidden, subscribing) && g.denies == nil { // by JetStream the server is asked for consumers
		u.Permissions.Subscribe.Deny = []string{"s9.>"}
		u.Permissions.Publish.Deny = append(u.Permissions.Publish.Deny, "$JS.API.CONSUMER.>")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users = append(slices.DeleteFunc(slices.Clone(g.users), func(other *server.User) bool { return other.Username == user }), u)
	_, port, _ := strings.Cut(g.s.Addr().String(), ":")
	var n int
	if _, err := fmt.Sscan(port, &n); err != nil {
		return err
	}
	return g.s.ReloadOptions(g.options(n))
}

// redisGuard administers a Redis server.
type redisGuard struct {
	*brokers.Cluster
	mu   sync.Mutex
	conn redis.Conn
}

func guardRedis(t *testing.T) guard {
	g := &redisGuard{Cluster: brokertest.Start(t, "redis", brokers.Options{User: "root", Password: "root"})}
	var err error
	if g.conn, err = redis.Dial("tcp", brokertest.Address(t, g.URL), redis.DialUsername("root"), redis.DialPassword("root")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.conn.Close() })
	return g
}

func (g *redisGuard) url(driver string) string { return g.URLFor(driver) }

func (g *redisGuard) rule(user, password string, forbidden ...deed) error {
	rule := redis.Args{"SETUSER", user, "reset", "on", ">" + password, "~*", "&*", "+@all"}
	if slices.Contains(forbidden, publishing) {
		rule = rule.Add("-publish", "-spublish", "-xadd")
	}
	if slices.Contains(forbidden, subscribing) {
		rule = rule.Add("-subscribe", "-psubscribe", "-ssubscribe", "-xread", "-xreadgroup")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := g.conn.Do("ACL", rule...)
	return err
}

// mosquittoGuard writes the files of a Mosquitto.
type mosquittoGuard struct {
	*brokers.Cluster
	passwords, rights string

	mu    sync.Mutex
	users map[string][2]string // lines of both files
}

func guardMosquitto(t *testing.T) guard {
	dir := t.TempDir()
	g := &mosquittoGuard{passwords: filepath.Join(dir, "passwords"), rights: filepath.Join(dir, "rights"), users: map[string][2]string{}}
	if err := g.write(); err != nil {
		t.Fatal(err)
	}
	g.Cluster = brokertest.Start(t, "mosquitto", brokers.Options{Settings: map[string]string{
		"allow_anonymous": "false", "password_file": g.passwords, "acl_file": g.rights, "log_type": "all"}})
	return g
}

func (g *mosquittoGuard) url(driver string) string { return g.URLFor(driver) }

func (g *mosquittoGuard) write() error {
	var both [2]string
	for _, lines := range g.users {
		for i := range both {
			both[i] += lines[i]
		}
	}
	replace := func(file, text string) error { // the broker may be reading it
		return errors.Join(os.WriteFile(file+".new", []byte(text), 0o600), os.Rename(file+".new", file))
	}
	return errors.Join(replace(g.passwords, both[0]), replace(g.rights, both[1]))
}

// mosquittoPassword is a user's password as Mosquitto 2 reads it.
func mosquittoPassword(password string) (string, error) {
	salt := make([]byte, 12)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	hash, err := pbkdf2.Key(sha512.New, password, salt, 101, sha512.Size)
	encode := base64.StdEncoding.EncodeToString
	return "$7$101$" + encode(salt) + "$" + encode(hash), err
}

func (g *mosquittoGuard) rule(user, password string, forbidden ...deed) error {
	may := "readwrite"
	switch {
	case slices.Contains(forbidden, publishing):
		may = "read"
	case slices.Contains(forbidden, subscribing):
		may = "write"
	}
	secret, err := mosquittoPassword(password)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users[user] = [2]string{user + ":" + secret + "\n", fmt.Sprintf("user %s\ntopic %s #\n", user, may)}
	node := g.Nodes()[0]
	before, err := os.ReadFile(node.Log)
	if err != nil {
		return err
	}
	if err := errors.Join(g.write(), syscall.Kill(node.PID, syscall.SIGHUP)); err != nil {
		return err
	}
	for limit := time.Now().Add(refusalPatience); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		after, err := os.ReadFile(node.Log)
		if err != nil {
			return err
		}
		if strings.Contains(string(after[len(before):]), "Reloading config") {
			return nil
		}
	}
	return errors.New("mosquitto does not read its files again")
}
