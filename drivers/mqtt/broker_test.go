package mqtt_test

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/mqtt"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// serveNATS is the first argument that makes the test binary a NATS server.
const serveNATS = "serve-nats"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveNATS {
		os.Exit(brokers.ServeNATS(os.Stdin, os.Stderr, os.Args[2:]))
	}
	os.Exit(m.Run())
}

// mosquitto starts a broker for the test.
func mosquitto(t testing.TB, o brokers.Options) *brokers.Cluster {
	t.Helper()
	return brokertest.Start(t, "mosquitto", o)
}

// options returns a copy of base with more.
func options(base map[string]any, more ...any) map[string]any {
	o := map[string]any{}
	for k, v := range base {
		o[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		o[more[i].(string)] = more[i+1]
	}
	return o
}

// open opens a session; it ends with the test.
func open(t testing.TB, target driver.Target) driver.Session {
	t.Helper()
	return sessiontest.Open(t, mqtt.Entry().Driver, target)
}

// box collects payloads and outcomes.
type box struct {
	got  chan driver.Message
	done chan error
}

func newBox() *box {
	return &box{got: make(chan driver.Message, 100_000), done: make(chan error, 100_000)}
}

func (b *box) Done(_ uint64, err error) { b.done <- err }

func (b *box) deliver(m driver.Message) {
	m.Payload = append([]byte(nil), m.Payload...)
	b.got <- m
}

// receive returns the next message as text.
func (b *box) receive(t testing.TB) string {
	t.Helper()
	select {
	case m := <-b.got:
		return string(m.Payload)
	case <-time.After(sessiontest.Patience):
		t.Fatal("no message comes")
		return ""
	}
}

func (b *box) outcome(t testing.TB) error {
	t.Helper()
	select {
	case err := <-b.done:
		return err
	case <-time.After(sessiontest.Patience):
		t.Fatal("a send is not done")
		return nil
	}
}

// retained lists the topics of the run of which the broker keeps a message. It
// speaks for itself, so as not to be wrong in the way the driver is.
func retained(address, user, password, run string) ([]string, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(sessiontest.Patience))
	str := func(s string) string { return string([]byte{byte(len(s) >> 8), byte(len(s))}) + s }
	packet := func(kind byte, body string) string { return string([]byte{kind, byte(len(body))}) + body }
	flags := byte(2)
	body := str("leftovers")
	if user != "" {
		flags |= 0xC0
		body += str(user) + str(password)
	}
	hello := packet(0x10, str("MQTT")+string([]byte{4, flags, 0, 0})+body)
	ask := packet(0x82, "\x00\x01"+str("s9/"+run+"/#")+"\x00")
	if _, err := c.Write([]byte(hello + ask + "\xC0\x00")); err != nil {
		return nil, err
	}
	var all []byte
	for buf := make([]byte, 4096); !strings.HasSuffix(string(all), "\xD0\x00"); {
		n, err := c.Read(buf)
		if err != nil {
			return nil, err
		}
		all = append(all, buf[:n]...)
	}
	var found []string
	for at := 0; at < len(all); {
		first, n, shift := all[at], 0, 0
		for at++; ; at++ {
			n |= int(all[at]&0x7F) << shift
			shift += 7
			if all[at] < 0x80 {
				at++
				break
			}
		}
		if first>>4 == 3 {
			size := int(all[at])<<8 | int(all[at+1])
			found = append(found, string(all[at+2:at+2+size]))
		}
		at += n
	}
	return found, nil
}
