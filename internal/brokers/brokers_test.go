package brokers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// role names the environment variable that makes the test binary something
// else than a test.
const role = "SIXNINES_TEST_ROLE"

// patience limits every wait for something that happens at once on a machine
// that is not overloaded.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		code := m.Run()
		if left := children(); left != "" {
			fmt.Fprintf(os.Stderr, "the tests leave processes behind: %s\n", left)
			code = 1
		}
		os.Exit(code)
	case "nats":
		os.Exit(Serve(os.Stdin, os.Stderr, os.Args[1:]))
	case "parent", "parent of a frozen one":
		os.Exit(parent())
	case "deaf":
		deaf()
	case "failing":
		fmt.Fprintln(os.Stderr, "no room at the inn")
		os.Exit(7)
	case "ending":
		fmt.Fprintln(os.Stderr, "that was all")
		os.Exit(3)
	}
}

// deaf ignores all signals that can be ignored. It ends after an hour, in case a test
// does not end it.
func deaf() {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	fmt.Println("deaf")
	time.Sleep(time.Hour)
}

// parent starts a broker, tells its number and address and waits to be killed.
func parent() int {
	c, err := Start(context.Background(), NATS(), Options{Home: natsHome()})
	if err == nil && os.Getenv(role) != "parent" {
		_, err = c.Freeze(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(c.Nodes()[0].PID, c.URL)
	select {}
}

// acting is a process that plays a role.
func acting(t *testing.T, as string) process {
	t.Helper()
	// The race detector waits a second before a process ends.
	return process{name: as, command: []string{os.Args[0]}, env: append(os.Environ(), role+"="+as, "GORACE=atexit_sleep_ms=0"), log: filepath.Join(t.TempDir(), "log")}
}

// says is ready when a process has printed a text.
func (p process) says(text string) func(context.Context) error {
	return func(context.Context) error {
		said, err := os.ReadFile(p.log)
		if err == nil && !strings.Contains(string(said), text) {
			err = errors.New("nothing said yet")
		}
		return err
	}
}

// echo sends a message of the size through the broker and back.
func echo(t *testing.T, c *Cluster, size int) {
	t.Helper()
	nc, err := nats.Connect(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	sub, err := nc.SubscribeSync("echo")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Publish("echo", make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	m, err := sub.NextMsg(patience)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Data) != size {
		t.Fatalf("sent %d bytes, %d came back", size, len(m.Data))
	}
}

func waitDone(t *testing.T, i *Instance) {
	t.Helper()
	select {
	case <-i.Done():
	case <-time.After(patience):
		t.Fatal("the broker does not end")
	}
}

func TestNATSStartsAndStops(t *testing.T) {
	c := deployed(t, Options{Dir: filepath.Join(t.TempDir(), "data")})
	i := c.Nodes()[0]
	if i.PID <= 0 || i.PID == os.Getpid() {
		t.Errorf("reported as %+v", i)
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	if ip := net.ParseIP(u.Hostname()); !ip.IsLoopback() {
		t.Errorf("it listens at %s, not on loopback", c.URL)
	}
	echo(t, c, 1000)
	if err := c.Err(); err != nil {
		t.Errorf("while running: %v", err)
	}
	for range 2 {
		if err := c.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		waitDone(t, i)
	}
	if err := c.Err(); err != nil {
		t.Errorf("after Stop: %v", err)
	}
	if i.status != nil {
		t.Errorf("asked to end, it ended with %v", i.status)
	}
	if c, err := net.Dial("tcp", u.Host); err == nil {
		c.Close()
		t.Error("somebody still listens")
	}
}

func TestServeNATSRefusesArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"extra"}, {"-c", "x", "extra"}, {"-unknown"}} {
		var stderr strings.Builder
		if code := ServeNATS(strings.NewReader(""), &stderr, args); code != 2 || stderr.Len() == 0 {
			t.Errorf("%q: exit code %d, says %q", args, code, &stderr)
		}
	}
}

func TestStartThatCannotSucceed(t *testing.T) {
	p := acting(t, "failing")
	p.ready = p.says("ready")
	if _, err := p.start(t.Context()); err == nil || !strings.Contains(err.Error(), "no room at the inn") || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("it failed with %v", err)
	}
	p.command = []string{t.TempDir() + "/absent"}
	if _, err := p.start(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent program: %v", err)
	}
}

func TestStartCancelled(t *testing.T) {
	why := errors.New("changed my mind")
	p := acting(t, "deaf")
	p.ready = p.says("ready")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
	for range 2 { // while it starts, and before
		if _, err := p.start(ctx); !errors.Is(err, why) {
			t.Error(err)
		}
	}
	if left := children(); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func TestContextOfStartDoesNotLimitTheInstance(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, err := Start(ctx, NATS(), Options{Home: natsHome()})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	echo(t, c, 32)
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestStopInsists(t *testing.T) {
	p := acting(t, "deaf")
	p.ready = p.says("deaf")
	i, err := p.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hurry, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := i.Stop(hurry); err != nil {
		t.Fatal(err)
	}
	waitDone(t, i)
}

func TestEndByItself(t *testing.T) {
	i, err := acting(t, "ending").start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waitDone(t, i)
	if err := i.Err(); err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "that was all") {
		t.Errorf("it ended with %v", err)
	}
	if _, err := i.Usage(); err == nil {
		t.Error("a process that is gone has no usage")
	}
	if err := i.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// startParent starts a process that starts a broker, and returns it with the
// broker's number and address.
func startParent(t *testing.T, as string) (*exec.Cmd, int, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+as)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	var at string
	if _, err := fmt.Sscan(line, &pid, &at); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, pid, u.Host
}

// killed kills a parent and checks that the broker pid ends with it. For a frozen broker
// the kernel accepts connections at the address.
func killed(t *testing.T, cmd *exec.Cmd, pid int, address string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	c.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the broker outlives its parent")
	}
	waitGone(t, pid)
}

func TestKilledParentTakesBrokerAlong(t *testing.T) {
	cmd, pid, address := startParent(t, "parent")
	killed(t, cmd, pid, address)
}
