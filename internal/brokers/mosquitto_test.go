package brokers_test

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// mqttHello sends a CONNECT of MQTT 3.1.1 and returns the broker's code.
func mqttHello(t *testing.T, c net.Conn, user, password string) byte {
	t.Helper()
	c.SetDeadline(time.Now().Add(30 * time.Second))
	str := func(s string) string { return "\x00" + string(rune(len(s))) + s }
	flags, body := "\x02", str("test")
	if user != "" {
		flags = "\xc2"
		body += str(user) + str(password)
	}
	body = str("MQTT") + "\x04" + flags + "\x00\x00" + body
	if _, err := io.WriteString(c, "\x10"+string(rune(len(body)))+body); err != nil {
		t.Fatal(err)
	}
	var answer [4]byte
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		t.Fatal(err)
	}
	return answer[3]
}

func TestMosquittoRunsAndComesBack(t *testing.T) {
	c := brokertest.Start(t, "mosquitto", brokers.Options{User: "ada", Password: "lovelace"})
	t.Logf("%s %s (%s) at %s in %s", c.Product, c.Version, c.Origin, c.URL, c.Dir)
	if !strings.HasPrefix(c.URL, "mqtt://127.0.0.1:") || c.Settings["max_queued_messages"] != "0" {
		t.Errorf("URL %s, settings %v", c.URL, c.Settings)
	}
	ask := func(user, password string) byte {
		conn, err := net.Dial("tcp", brokertest.Address(t, c.URL))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return mqttHello(t, conn, user, password)
	}
	for _, round := range []string{"first", "after a restart"} {
		if code := ask("ada", "lovelace"); code != 0 {
			t.Errorf("%s: the broker refuses with %d", round, code)
		}
		if ask("ada", "byron") == 0 || ask("", "") == 0 {
			t.Errorf("%s: a wrong password, or none, is taken", round)
		}
		if round == "first" {
			brokertest.Restart(t, c)()
		}
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", c.Dir, err)
	}
}

// Settings can enable encryption, too; then the readiness check is another one.
func TestMosquittoEncryptsBySettings(t *testing.T) {
	files := brokertest.NewCertificates(t).Server(true)
	c := brokertest.Start(t, "mosquitto", brokers.Options{Settings: map[string]string{
		"certfile": files.Cert, "keyfile": files.Key, "cafile": files.CA, "require_certificate": "true"}})
	if !strings.HasPrefix(c.URL, "mqtts://") {
		t.Errorf("URL %s", c.URL)
	}
}

func TestMosquittoEncrypts(t *testing.T) {
	certificates := brokertest.NewCertificates(t)
	c := brokertest.Start(t, "mosquitto", brokers.Options{TLS: certificates.Server(true), Settings: map[string]string{"max_queued_messages": "7"}})
	if !strings.HasPrefix(c.URL, "mqtts://") || c.Settings["max_queued_messages"] != "7" {
		t.Errorf("URL %s, settings %v", c.URL, c.Settings)
	}
	config, err := certificates.Client(true).Config("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", brokertest.Address(t, c.URL), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if code := mqttHello(t, conn, "", ""); code != 0 {
		t.Errorf("the broker refuses with %d", code)
	}
	config.Certificates = nil
	if conn, err := tls.Dial("tcp", brokertest.Address(t, c.URL), config); err == nil {
		conn.SetDeadline(time.Now().Add(30 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("a client without a certificate is let in")
		}
		conn.Close()
	}
}
