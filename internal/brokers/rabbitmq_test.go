package brokers_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

func dialRabbit(t *testing.T, url string) *amqp.Connection {
	t.Helper()
	c, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// keep puts a persistent message into a durable queue.
func keep(t *testing.T, url, queue string, args amqp.Table) {
	t.Helper()
	ch, err := dialRabbit(t, url).Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclare(queue, true, false, false, false, args); err != nil {
		t.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	done, err := ch.PublishWithDeferredConfirm("", queue, true, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte("kept")})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := done.WaitContext(t.Context()); err != nil || !ok {
		t.Fatalf("confirmed %v, %v", ok, err)
	}
}

func kept(t *testing.T, url, queue string) (string, error) {
	t.Helper()
	ch, err := dialRabbit(t, url).Channel()
	if err != nil {
		t.Fatal(err)
	}
	m, ok, err := ch.Get(queue, true)
	if err == nil && !ok {
		err = errors.New("the queue has nothing")
	}
	return string(m.Body), err
}

func TestRabbitMQRunsAndComesBack(t *testing.T) {
	c := brokertest.Start(t, "rabbitmq", brokers.Options{MaxMessage: 1 << 20})
	t.Logf("%s %s (%s) at %s, %v", c.Product, c.Version, c.Origin, c.URL, c.Info)
	if command, err := os.ReadFile("/proc/" + strconv.Itoa(c.Nodes()[0].PID) + "/comm"); err == nil && !strings.HasPrefix(string(command), "beam") {
		t.Errorf("the node's process is %q instead of the Erlang machine", command)
	}
	// After a kill the broker does not always restore what its database has in its files.
	for attempt := range 3 {
		queue := fmt.Sprintf("queue-that-stays-%d", attempt)
		keep(t, c.URL, queue, nil)
		onDisk(t, c.Dir, queue)
		brokertest.Restart(t, c)()
		got, err := kept(t, c.URL, queue)
		if got == "kept" {
			break
		}
		t.Logf("after a restart the queue has %q, %v", got, err)
		if attempt == 2 {
			t.Error("no queue is there again after a restart")
		}
	}
	stream, err := net.Dial("tcp", brokertest.Address(t, c.URLFor("rabbitmq-stream")))
	if err != nil {
		t.Error(err)
	} else {
		stream.Close()
	}

	// The kernel accepts connections for a frozen node, but the node does not answer.
	if _, err := c.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if conn, err := amqp.DialConfig(c.URL, amqp.Config{Dial: amqp.DefaultDial(time.Minute)}); err == nil {
			conn.Close()
		}
	}()
	select {
	case <-answered:
		t.Error("a frozen node answers")
	case <-time.After(200 * time.Millisecond):
	}
	if _, err := c.Thaw(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-answered

	dir := c.Dir
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", dir, err)
	}
	noneOf(t, dir)
}

// onDisk waits until the broker's database has the queue on disk. The broker confirms the
// queue and its messages a little earlier.
func onDisk(t *testing.T, dir, queue string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second) // only how long a failure takes
	for {
		for _, kind := range []string{"LATEST.LOG", "rabbit_durable_queue.DC?"} {
			files, err := filepath.Glob(filepath.Join(dir, "*", "data", "*", kind))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), queue) {
					return
				}
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not written down", queue)
		}
		time.Sleep(time.Millisecond) // between two looks
	}
}

// noneOf waits until no process that was started for the directory runs. Erlang has helper
// processes, which end when they notice that the node is gone.
func noneOf(t *testing.T, dir string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second) // only how long a failure takes
	for {
		var found []string
		environs, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range environs {
			if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "HOME="+dir) {
				found = append(found, filepath.Dir(file))
			}
		}
		if len(found) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes are left behind: %q", found)
		}
		time.Sleep(time.Millisecond) // between two looks
	}
}

func TestRabbitMQEncryptsAndAsksForAPassword(t *testing.T) {
	if testing.Short() {
		t.Skip("another node takes a while")
	}
	certificates := brokertest.NewCertificates(t)
	c := brokertest.Start(t, "rabbitmq", brokers.Options{TLS: certificates.Server(true), User: "client", Password: "lovelace"})
	config, err := certificates.Client(true).Config("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	login := func(auth ...amqp.Authentication) error {
		conn, err := amqp.DialConfig(c.URL, amqp.Config{SASL: auth, TLSClientConfig: config, Vhost: "/"})
		if err == nil {
			conn.Close()
		}
		return err
	}
	if err := login(&amqp.PlainAuth{Username: "client", Password: "lovelace"}); err != nil {
		t.Error(err)
	}
	if err := login(&amqp.ExternalAuth{}); err != nil {
		t.Errorf("by certificate: %v", err)
	}
	if err := login(&amqp.PlainAuth{Username: "client", Password: "byron"}); err == nil {
		t.Error("a wrong password is taken")
	}
	config.Certificates = nil
	if err := login(&amqp.PlainAuth{Username: "client", Password: "lovelace"}); err == nil {
		t.Error("a client without a certificate is let in")
	}
}

func TestRabbitMQHomeMustBeOne(t *testing.T) {
	p := brokers.RabbitMQ()
	h := brokertest.Home(t)
	h.Environ = append(h.Environ, "RABBITMQ_HOME="+t.TempDir())
	if _, err := p.Find(t.Context(), h); err == nil || errors.Is(err, brokers.ErrNotInstalled) || !strings.Contains(err.Error(), "RABBITMQ_HOME") {
		t.Errorf("an empty directory is found to be RabbitMQ, or not named: %v", err)
	}
	h.Environ = []string{"PATH=" + t.TempDir()}
	if _, err := exec.LookPath("/usr/sbin/rabbitmq-server"); err == nil {
		t.Skip("RabbitMQ lies where programs of the system do, and is always found")
	}
	if _, err := p.Find(t.Context(), h); !errors.Is(err, brokers.ErrNotInstalled) {
		t.Errorf("nothing is found: %v", err)
	}
}

func TestRabbitMQHasThePolicy(t *testing.T) {
	c := brokertest.Start(t, "rabbitmq", brokers.Options{Settings: map[string]string{"policy": `{"max-length":1}`}})
	keep(t, c.URL, "short", nil)
	keep(t, c.URL, "short", nil)
	ch, err := dialRabbit(t, c.URL).Channel()
	if err != nil {
		t.Fatal(err)
	}
	if q, err := ch.QueueDeclarePassive("short", true, false, false, false, nil); err != nil || q.Messages != 1 {
		t.Errorf("a queue whose policy keeps one message has %d, %v", q.Messages, err)
	}
	rabbit, _ := brokers.Lookup("rabbitmq")
	for _, bad := range []string{"ha-mode", `{"no-such":1}`} {
		_, err := brokers.Start(t.Context(), rabbit, brokers.Options{Home: brokertest.Home(t), Settings: map[string]string{"policy": bad}})
		if err == nil || !strings.Contains(err.Error(), "policy") && !strings.Contains(err.Error(), "no-such") {
			t.Errorf("policy %s: %v", bad, err)
		}
	}
}
