package nats_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sixnines/internal/brokers"
)

// childConfig names the environment variable that makes the test binary a NATS
// server with the configuration file it holds.
const childConfig = "SIXNINES_TEST_NATS_CONFIG"

// becomeBroker makes the test binary the server that is built in.
const becomeBroker = "__broker-nats"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == becomeBroker {
		os.Exit(brokers.ServeNATS(os.Stdin, os.Stderr, os.Args[2:]))
	}
	if config := os.Getenv(childConfig); config != "" {
		if err := serve(config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve runs a server until standard input ends, as it does with the parent.
func serve(config string) error {
	o, err := server.ProcessConfigFile(config)
	if err != nil {
		return err
	}
	o.NoSigs, o.NoLog = true, true
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("server did not start")
	}
	fmt.Println(s.ClientURL(), s.MonitorAddr())
	io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	return nil
}

// broker is a NATS server in a process of its own, so that it can be frozen.
type broker struct {
	t      testing.TB
	config string // the configuration without address
	url    *url.URL
	http   string // address of the server's monitoring
	cmd    *exec.Cmd
	stdin  io.Closer
}

// startBroker starts a server with the configuration on a free port of
// loopback. It ends with the test.
func startBroker(t testing.TB, config string) *broker {
	t.Helper()
	b := &broker{t: t, config: config}
	b.start(server.RANDOM_PORT)
	t.Cleanup(b.stop)
	return b
}

func (b *broker) start(port int) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "server.conf")
	text := fmt.Sprintf("listen: \"127.0.0.1:%d\"\nhttp: \"127.0.0.1:-1\"\n%s\n", port, b.config)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.cmd = exec.CommandContext(context.Background(), os.Args[0])
	b.cmd.Env = append(os.Environ(), childConfig+"="+file)
	b.cmd.Stderr = os.Stderr
	stdin, err := b.cmd.StdinPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	b.stdin = stdin
	stdout, err := b.cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.t.Fatalf("the server said nothing: %v", err)
	}
	words := strings.Fields(line)
	b.http = words[1]
	if b.url, err = url.Parse(words[0]); err != nil {
		b.t.Fatal(err)
	}
}

func (b *broker) stop() {
	b.stdin.Close()
	b.cmd.Process.Kill()
	b.cmd.Wait()
}

// restart kills the server and starts it again at the same address.
func (b *broker) restart() {
	b.stop()
	b.start(b.port())
}

func (b *broker) port() (port int) {
	fmt.Sscan(b.url.Port(), &port)
	return port
}

func (b *broker) freeze() { b.signal(syscall.SIGSTOP) }
func (b *broker) thaw()   { b.signal(syscall.SIGCONT) }

func (b *broker) signal(s syscall.Signal) {
	if err := b.cmd.Process.Signal(s); err != nil {
		b.t.Fatal(err)
	}
	if s != syscall.SIGSTOP {
		return
	}
	// The signal takes effect when the process is next scheduled.
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(b.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		b.t.Fatalf("the server does not stop: %v, %v", status, err)
	}
}

// unusedAddress returns an address of loopback at which nobody listens.
func unusedAddress(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// subjects lists the subjects with run in their name that the server knows.
func (b *broker) subjects(run string) ([]string, error) {
	answer, err := http.Get("http://" + b.http + "/subsz?subs=1&limit=100000")
	if err != nil {
		return nil, err
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer answer.Body.Close()
	var known struct {
		Subscriptions []struct {
			Subject string `json:"subject"`
		} `json:"subscriptions_list"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&known); err != nil {
		return nil, err
	}
	var found []string
	for _, sub := range known.Subscriptions {
		if strings.Contains(sub.Subject, run) {
			found = append(found, sub.Subject)
		}
	}
	return found, nil
}
