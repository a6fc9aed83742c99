package brokers_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/disk"
	"sixnines/internal/journal"
)

// onDisks starts a product on file systems of its own. At the end of the test nothing of them may be left.
func onDisks(t *testing.T, product string, o brokers.Options) *brokers.Cluster {
	t.Helper()
	if err := disk.Check(); err != nil {
		t.Skip("SKIPPED: " + err.Error())
	}
	undo := filepath.Join(t.TempDir(), "undo")
	j := journal.New(undo)
	dir := ""
	t.Cleanup(func() { // after the broker was stopped
		if err := j.Close(context.Background()); err != nil {
			t.Error(err)
		}
		left, _ := os.ReadDir(undo)
		table, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil || len(left) > 0 || dir == "" || strings.Contains(string(table), dir) {
			t.Errorf("left is %v, and in %s, or its name in\n%s", left, dir, table)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", dir, err)
		}
	})
	o.Disks = &brokers.Disks{Journal: j, Size: 256 << 20}
	o.Home = selfHome(t)
	c := brokertest.Start(t, product, o)
	dir = c.Dir
	return c
}

// selfHome is a home in which the built-in brokers are this test.
func selfHome(t *testing.T) brokers.Home {
	t.Helper()
	h := brokertest.Home(t)
	h.Self, h.Environ = []string{os.Args[0]}, append(h.Environ, "SIXNINES_TEST_ROLE=nats", "GORACE=atexit_sleep_ms=0")
	return h
}

// outage fails the power of all nodes and starts them again.
func outage(t *testing.T, c *brokers.Cluster) {
	t.Helper()
	down, err := c.FailPower(t.Context())
	if err != nil || len(down.Nodes) != len(c.Members()) || down.Complete < down.At {
		t.Fatalf("%+v, %v", down, err)
	}
	if _, err := c.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// stream makes a stream on files with a client of its own.
func stream(t *testing.T, c *brokers.Cluster) (jetstream.JetStream, *nats.Conn) {
	t.Helper()
	nc, err := nats.Connect(c.URL, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}, Storage: jetstream.FileStorage, Replicas: len(c.Members())}); err != nil {
		t.Fatal(err)
	}
	return js, nc
}

// inStream returns how many messages the stream has; none if there is no stream any more.
func inStream(t *testing.T, js jetstream.JetStream) uint64 {
	t.Helper()
	var err error
	for range 600 { // the client connects again, and nodes elect a leader
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		var s jetstream.Stream
		s, err = js.Stream(ctx, "s")
		cancel()
		switch {
		case err == nil:
			return s.CachedInfo().State.Msgs
		case errors.Is(err, jetstream.ErrStreamNotFound):
			return 0
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal(err)
	return 0
}

// JetStream on one node acknowledges before it syncs, unless it is told to sync always: then nothing that was
// acknowledged is lost.
func TestPowerFailureOfJetStream(t *testing.T) {
	for _, tt := range []struct {
		settings map[string]string
		loses    bool
	}{
		{nil, true},
		{map[string]string{"jetstream.sync_interval": "always"}, false},
	} {
		t.Run(fmt.Sprint(tt.settings), func(t *testing.T) {
			t.Parallel()
			c := onDisks(t, "nats", brokers.Options{Settings: tt.settings})
			js, _ := stream(t, c)
			const messages = 200
			for range messages {
				if _, err := js.Publish(t.Context(), "s", make([]byte, 256)); err != nil {
					t.Fatal(err)
				}
			}
			outage(t, c)
			left := inStream(t, js)
			t.Logf("%d of %d acknowledged messages are left", left, messages)
			if left > messages || (left < messages) != tt.loses {
				t.Errorf("%d of %d acknowledged messages are left; may some be lost: %v", left, messages, tt.loses)
			}
		})
	}
}

// A full disk is heard of: what is refused is not stored, and what is acknowledged is.
func TestFullDiskOfJetStream(t *testing.T) {
	c := onDisks(t, "nats", brokers.Options{})
	js, _ := stream(t, c)
	acknowledged, refused := uint64(0), 0
	publish := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // the server may go silent
		defer cancel()
		_, err := js.Publish(ctx, "s", make([]byte, 64<<10))
		if err == nil {
			acknowledged++
		}
		return err
	}
	if err := publish(); err != nil {
		t.Fatal(err)
	}
	_, taken, err := c.FillDisk(t.Context(), 0)
	if err != nil || taken < 100<<20 {
		t.Fatalf("%d bytes taken: %v", taken, err)
	}
	var says error
	for range 300 { // a block that was allocated before may still have space
		if err := publish(); err != nil {
			refused, says = refused+1, err
			break
		}
	}
	if refused == 0 {
		t.Errorf("%d messages of 64 KiB are acknowledged on a full disk", acknowledged)
	}
	t.Logf("after %d messages the answer is: %v", acknowledged, says)
	if _, err := c.EmptyDisk(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := inStream(t, js); got != acknowledged {
		t.Errorf("%d messages are stored, %d were acknowledged", got, acknowledged)
	}
}

// Redis with appendfsync always keeps what it has acknowledged; with everysec the end may be lost, and
// nothing from before it.
func TestPowerFailureOfRedis(t *testing.T) {
	for _, tt := range []struct {
		sync  string
		loses bool
		for_  time.Duration
	}{
		{"always", false, 0},
		{"everysec", true, 4 * time.Second},
	} {
		t.Run(tt.sync, func(t *testing.T) {
			t.Parallel()
			c := onDisks(t, "redis", brokers.Options{Settings: map[string]string{"appendonly": "yes", "appendfsync": tt.sync}})
			address := brokertest.Address(t, c.URL)
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			answers := bufio.NewReader(conn)
			acknowledged := 0
			for began := time.Now(); acknowledged < 200 || time.Since(began) < tt.for_; {
				if _, err := io.WriteString(conn, "RPUSH list message\r\n"); err != nil {
					t.Fatal(err)
				}
				answer, err := answers.ReadString('\n')
				if err != nil || !strings.HasPrefix(answer, ":") {
					t.Fatalf("%q, %v", answer, err)
				}
				acknowledged++
			}
			outage(t, c)
			left, err := strconv.Atoi(strings.TrimPrefix(redisSays(t, address, nil, "LLEN list")[0], ":"))
			t.Logf("%d of %d acknowledged messages are left", left, acknowledged)
			if err != nil || left > acknowledged || (left < acknowledged) != tt.loses || left == 0 {
				t.Errorf("%d of %d acknowledged messages are left; may some be lost: %v (%v)", left, acknowledged, tt.loses, err)
			}
		})
	}
}

// The power of one node of three fails: the others go on, and it comes back with what it had synced.
func TestPowerFailureOfOneNode(t *testing.T) {
	c := onDisks(t, "nats", brokers.Options{Nodes: 3})
	js, nc := stream(t, c)
	publish := func(n int) {
		t.Helper()
		for k := range n {
			var err error
			for range 100 { // a new leader may have to be elected
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				_, err = js.Publish(ctx, "s", make([]byte, 256), jetstream.WithMsgID(fmt.Sprint(nc.Stats().OutMsgs, n, k)))
				cancel()
				if err == nil {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	publish(50)
	info, err := js.Stream(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	follower := 0 // so that no election is waited for
	if info.CachedInfo().Cluster.Leader == c.Members()[0].Name {
		follower = 1
	}
	if down, err := c.FailPower(t.Context(), follower); err != nil || len(down.Nodes) != 1 {
		t.Fatalf("%+v, %v", down, err)
	}
	if _, err := c.FailPower(t.Context(), follower); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a node that is down: %v", err)
	}
	publish(60)
	if _, err := c.Resume(t.Context(), follower); err != nil {
		t.Fatal(err)
	}
	if left := inStream(t, js); left < 110 {
		t.Errorf("%d of 110 are left, with two of three nodes alive", left)
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

// Bits of files are turned over where the directory is ours, and nowhere else.
func TestCorruptData(t *testing.T) {
	c := brokertest.Start(t, "nats", brokers.Options{Home: selfHome(t)})
	js, _ := stream(t, c)
	if _, err := js.Publish(t.Context(), "s", make([]byte, 256)); err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(1, 1))
	if flips, err := c.CorruptData(0, "*.blk", 1, draw); err != nil || len(flips) != 1 || filepath.Ext(flips[0].File) != ".blk" {
		t.Errorf("%v, %v", flips, err)
	}
	if _, err := c.CorruptData(1, "*.blk", 1, draw); err == nil {
		t.Error("a node that does not exist")
	}
	mine := brokertest.Start(t, "redis", brokers.Options{Dir: filepath.Join(t.TempDir(), "mine")})
	if flips, err := mine.CorruptData(0, "*", 1, draw); err == nil || len(flips) > 0 {
		t.Errorf("a directory of the user's: %v", flips)
	}
}

// A file system of its own is refused where it makes no sense, and then nothing is left.
func TestDisksAreRefused(t *testing.T) {
	if err := disk.Check(); err != nil {
		t.Skip("SKIPPED: " + err.Error())
	}
	for product, o := range map[string]brokers.Options{"null": {}, "nats-streaming": {}, "redis": {Dir: filepath.Join(t.TempDir(), "kept")}} {
		o.Disks = &brokers.Disks{Journal: journal.New(t.TempDir())}
		o.Home = selfHome(t)
		p, _ := brokers.Lookup(product)
		_, err := p.Find(t.Context(), o.Home)
		if errors.Is(err, brokers.ErrNotInstalled) {
			continue
		}
		if c, err := brokers.Start(t.Context(), p, o); err == nil {
			t.Errorf("%s runs", product)
			c.Stop(context.Background())
		}
	}
	c := brokertest.Start(t, "nats", brokers.Options{Home: selfHome(t)})
	if _, err := c.FailPower(t.Context()); !errors.Is(err, brokers.ErrNoDisk) {
		t.Errorf("without a disk: %v", err)
	}
	if _, _, err := c.FillDisk(t.Context()); !errors.Is(err, brokers.ErrNoDisk) {
		t.Errorf("without a disk: %v", err)
	}
}
