package all_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/cli"
	"sixnines/internal/selfsigned"
)

// said is what the command says of a run that cannot be.
type said struct {
	code int
	text string // the error and its hint, in one line
}

// try runs the command with these arguments.
func try(t *testing.T, args ...string) said {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), refusalPatience)
	defer cancel()
	var out, errs bytes.Buffer
	code := cli.Main(ctx, cli.Env{Args: append([]string{"run"}, append(args, "--rate", "10/s", "--duration", "100ms", "--warmup", "0s", "--quiet")...), Stdin: strings.NewReader(""),
		Stdout: &out, Stderr: &errs, Environ: os.Environ(), Dir: t.TempDir(), Drivers: all.Set(), Tool: cli.BuiltTool()})
	return said{code, strings.Join(strings.Fields(errs.String()), " ")}
}

// encrypting are the drivers that know TLS, with the options of their clients.
func encrypting(f func(name string, e driver.Entry, options []string)) {
	for _, e := range all.Set().Entries() {
		if !e.Capabilities.TLS || e.Capabilities.Brokerless || e.InProcess {
			continue
		}
		f(e.Name, e, nil)
		for _, o := range driver.DescribeOptions(e.Options) {
			if o.Name == "client" {
				f(e.Name+" by the library", e, []string{"--option", "client=library"})
			}
		}
	}
}

// urlOf is where the driver finds a broker at the address that encrypts, or does not.
func urlOf(e driver.Entry, address string, encrypts bool) string {
	url := regexp.MustCompile(`127\.0\.0\.1:[0-9]+`).ReplaceAllString(e.DefaultURL, address)
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || !encrypts {
		return url
	}
	return map[string]string{"nats": "tls", "redis": "rediss", "amqp": "amqps", "mqtt": "mqtts", "nsq": "nsq+tls", "pulsar": "pulsar+ssl",
		"rabbitmq-stream": "rabbitmq-stream+tls"}[scheme] + "://" + rest
}

// serveEach listens on loopback, and handles each connection until the test ends; without a
// handler nothing listens at the address that it returns.
func serveEach(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if handle == nil { // nothing listens there
		l.Close()
		return l.Addr().String()
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); handle(c) }()
		}
	}()
	return l.Addr().String()
}

// asksFirst reports whether the protocol begins plainly, and encrypts where the server says that it does.
func asksFirst(driver string) bool {
	return driver == "nats" || driver == "jetstream" || driver == "stan" || driver == "nsq"
}

// greeting is what a server of the driver says and hears before it encrypts.
func greeting(driver string, conn net.Conn) error {
	switch driver {
	case "nats", "jetstream", "stan":
		_, err := io.WriteString(conn, "INFO {\"server_id\":\"x\",\"max_payload\":1048576,\"tls_required\":true}\r\n")
		return err
	case "nsq":
		// The magic, IDENTIFY and its body; the answer is a frame.
		head := make([]byte, len("  V2IDENTIFY\n")+4)
		if _, err := io.ReadFull(conn, head); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(head[len(head)-4:]))); err != nil {
			return err
		}
		const answer = "{\"version\":\"1.3.0\",\"tls_v1\":true}"
		frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(answer)))
		_, err := conn.Write(append(binary.BigEndian.AppendUint32(frame, 0), answer...))
		return err
	}
	return nil
}

// encrypted serves a driver's clients with the certificate.
func encrypted(t *testing.T, driver string, pair tls.Certificate) (address string) {
	return serveEach(t, func(conn net.Conn) {
		if greeting(driver, conn) != nil {
			return
		}
		over := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}})
		_, _ = io.Copy(io.Discard, over)
	})
}

// Whatever is wrong with the server's certificate has a sentence of its own, in every driver and client.
func TestMistakesWithCertificates(t *testing.T) {
	authority, err := selfsigned.NewAuthority("an authority")
	if err != nil {
		t.Fatal(err)
	}
	other, err := selfsigned.NewAuthority("another authority")
	if err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, authority.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	hosts := []string{"localhost", "127.0.0.1"}
	for _, c := range []struct {
		name string
		by   *selfsigned.Authority
		of   selfsigned.Subject
		says string
	}{
		{"expired", authority, selfsigned.Subject{Hosts: hosts, NotBefore: time.Now().AddDate(0, -2, 0), NotAfter: time.Now().AddDate(0, -1, 0)}, "hint: the server's certificate has expired"},
		{"not yet valid", authority, selfsigned.Subject{Hosts: hosts, NotBefore: time.Now().AddDate(0, 1, 0), NotAfter: time.Now().AddDate(0, 2, 0)}, "hint: the server's certificate is not valid yet"},
		{"of an unknown authority", other, selfsigned.Subject{Hosts: hosts}, "hint: give the CA that signed the server's certificate with --tls-ca FILE"},
		{"of several other names", authority, selfsigned.Subject{Hosts: []string{"a.example", "*.b.example", "192.0.2.1", "2001:db8::1"}}, "hint: use the host name of the certificate in --url or with --tls-server-name"},
		{"of another name", authority, selfsigned.Subject{Hosts: []string{"broker.example"}}, "hint: use the host name of the certificate in --url or with --tls-server-name"},
	} {
		public, private, err := c.by.Issue(c.of)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := tls.X509KeyPair(public, private)
		if err != nil {
			t.Fatal(err)
		}
		encrypting(func(name string, e driver.Entry, options []string) {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				address := encrypted(t, e.Name, pair)
				if e.Name == "pulsar" {
					options = append(options, "--option", "http_url=https://"+address)
				}
				r := try(t, append([]string{e.Name, "--url", urlOf(e, address, true), "--tls-ca", ca}, options...)...)
				if r.code != 1 || !strings.Contains(r.text, c.says) {
					t.Errorf("exit code %d: %s; want %q", r.code, r.text, c.says)
				}
			})
		})
	}
}

// A client that encrypts where the server does not, and the reverse, and an address that cannot be read, are
// told what to change, in every driver and client.
func TestMistakesWithPorts(t *testing.T) {
	alert := []byte{21, 3, 3, 0, 2, 2, 70}
	answers := func(text []byte) func(net.Conn) {
		return func(c net.Conn) {
			if _, err := c.Read(make([]byte, 1<<12)); err == nil {
				_, _ = c.Write(text)
			}
		}
	}
	for _, c := range []struct {
		name     string
		server   func(net.Conn) // nil: it does not get so far
		encrypts bool
		code     int
		says     string
	}{
		{"plain to a TLS port", answers(alert), false, 1, "if it requires TLS, give "},
		{"plain to a TLS port that closes", answers(nil), false, 1, "if it requires TLS, give "},
		{"TLS to a plain port", answers([]byte("-ERR what is this?\r\n")), true, 1, "use the scheme without TLS"},
		{"TLS to a plain port that closes", answers(nil), true, 1, "use the scheme without TLS"},
		{"IPv6 without brackets", nil, false, 2, "[::1]"},
	} {
		encrypting(func(name string, e driver.Entry, options []string) {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				address := "::1:7"
				if c.server != nil {
					address = serveEach(t, c.server)
				}
				url := urlOf(e, address, c.encrypts)
				if c.encrypts && asksFirst(e.Name) {
					t.Skip("a client learns from the server whether it encrypts, before it does")
				}
				if c.encrypts && !strings.Contains(url, "://") {
					t.Skip("it has no scheme for TLS")
				}
				if c.encrypts && e.Name == "pulsar" && strings.HasSuffix(c.name, "closes") {
					t.Skip("the library does not tell a handshake that ends from another end")
				}
				if e.Name == "pulsar" {
					options = append(options, "--option", "http_url=http://127.0.0.1:1")
				}
				r := try(t, append([]string{e.Name, "--url", url}, options...)...)
				if r.code != c.code || !strings.Contains(r.text, c.says) {
					t.Errorf("exit code %d: %s; want %d and %q", r.code, r.text, c.code, c.says)
				}
			})
		})
	}
}

// Who logs in wrongly is told how to log in, and who lacks a right which, at each secured broker; the first of
// two addresses may be one at which nothing listens.
func TestMistakesWithAccounts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts brokers")
	}
	down := serveEach(t, nil)
	atSecured(t, func(t *testing.T, name string, e driver.Entry, c *brokers.Cluster, target driver.Target) {
		args := func(password, prefix string, more ...string) []string {
			args := append([]string{name, "--url", c.URLFor(name), "--tls-ca", target.TLS.CA, "--prefix", prefix}, more...)
			for option, value := range target.Options {
				if option == "password" && password != "" {
					value = password
				}
				args = append(args, "--option", option+"="+value.(string))
			}
			return args
		}
		for _, m := range []struct {
			what  string
			args  []string
			code  int
			says  string
			never string
		}{
			{"wrong password", args("wrong", target.Prefix), 1, "hint: give the login of a user of the broker", "--permissions"},
			{"no right", args("", "other"+e.Naming.Separator), 1, "--permissions --prefix other" + e.Naming.Separator + " lists what the account needs", "hint: give the login"},
			{"plain to a TLS port", []string{name, "--url", urlOf(e, brokertest.Address(t, c.URL), false)}, 1, "--tls-ca FILE", "--permissions"},
			{"first address down", func() []string {
				scheme, _, _ := strings.Cut(c.URLFor(name), "://")
				return append(args("", target.Prefix), "--url", scheme+"://"+down+","+c.URLFor(name))
			}(), 0, "", "hint: "},
		} {
			if m.what == "first address down" && c.Product == "redis" {
				continue // of single servers it takes one address
			}
			r := try(t, m.args...)
			if bad := m.code == 0 && (r.code == 1 || r.code == 2); bad || m.code != 0 && r.code != m.code || !strings.Contains(r.text, m.says) || strings.Contains(r.text, m.never) {
				t.Errorf("%s: exit code %d: %s; want %d, %q and not %q", m.what, r.code, r.text, m.code, m.says, m.never)
			}
		}
	})
}

// What an account of JetStream may not have names the option that asks for it.
func TestMistakesWithLimits(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := brokertest.Start(t, "nats", brokers.Options{Home: brokers.Home{Self: []string{self, becomeBroker}}, Settings: map[string]string{
		"accounts": `{ A: { jetstream: { max_file: 10MB, max_mem: 10MB, max_streams: 1 }, users: [ { user: a, password: a } ] } }`}})
	for what, m := range map[string]struct {
		args []string
		says string
	}{
		"bytes in files":  {nil, "hint: lower --option max_bytes"},
		"bytes in memory": {[]string{"--option", "storage=memory"}, "hint: lower --option max_bytes"},
		"streams":         {[]string{"--topics", "3", "--option", "max_bytes=1MiB"}, "hint: lower --topics"},
	} {
		if r := try(t, append([]string{"jetstream", "--url", c.URL, "--option", "user=a", "--option", "password=a"}, m.args...)...); r.code != 1 || !strings.Contains(r.text, m.says) {
			t.Errorf("%s: exit code %d: %s; want %q", what, r.code, r.text, m.says)
		}
	}
}
