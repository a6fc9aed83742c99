package mesh

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sixnines/driver"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		url  string
		want Address
	}{
		{"", Address{Scheme: "tcp", Host: "127.0.0.1"}},
		{"tcp://127.0.0.1:5555", Address{Scheme: "tcp", Host: "127.0.0.1", Port: 5555}},
		{"127.0.0.1:5555", Address{Scheme: "tcp", Host: "127.0.0.1", Port: 5555}},
		{"tcp://127.0.0.1", Address{Scheme: "tcp", Host: "127.0.0.1"}},
		{"tcp://*:5555", Address{Scheme: "tcp", Host: "0.0.0.0", Port: 5555}},
		{"tcp://[::1]:*", Address{Scheme: "tcp", Host: "::1"}},
		{"ipc:///run/bench/s", Address{Scheme: "ipc", Path: "/run/bench/s"}},
		{"ipc://", Address{Scheme: "ipc"}},
		{"inproc://", Address{Scheme: "inproc"}},
	} {
		got, err := Parse(tt.url, "tcp", "ipc", "inproc")
		if err != nil || got != tt.want {
			t.Errorf("%q: %+v, %v; want %+v", tt.url, got, err, tt.want)
		}
	}
	for url, hint := range map[string]string{
		"udp://127.0.0.1:1":                 "want tcp, ipc",
		"tcp://127.0.0.1:70000":             "from 0",
		"tcp://127.0.0.1:x":                 "from 0",
		"tcp://1:2:3":                       "such as",
		"tcp://127.0.0.1:1,tcp://b:2":       "one address",
		"ipc://" + strings.Repeat("x", 200): "107",
	} {
		if hint == "107" {
			hint = "a socket's may have"
		}
		if _, err := Parse(url, "tcp", "ipc"); !errors.Is(err, driver.ErrOption) || !strings.Contains(err.Error(), hint) {
			t.Errorf("%q: %v; want a wrong option and %q", url, err, hint)
		}
	}
}

func TestEndpointsFollow(t *testing.T) {
	for _, tt := range []struct {
		a    Address
		want []string
	}{
		{Address{Scheme: "tcp", Host: "127.0.0.1", Port: 5555}, []string{"tcp://127.0.0.1:5555", "tcp://127.0.0.1:5556"}},
		{Address{Scheme: "tcp", Host: "::1"}, []string{"tcp://[::1]:0", "tcp://[::1]:0"}},
		{Address{Scheme: "ipc", Path: "/x/s"}, []string{"ipc:///x/s.0", "ipc:///x/s.1"}},
		{Address{Scheme: "inproc"}, []string{"inproc://sixnines.r.0", "inproc://sixnines.r.1"}},
	} {
		for i, want := range tt.want {
			if got, err := tt.a.endpoint(i, "r"); err != nil || got != want {
				t.Errorf("%v, socket %d: %q, %v; want %q", tt.a, i, got, err, want)
			}
		}
	}
	if _, err := (Address{Scheme: "tcp", Host: "127.0.0.1", Port: 65535}).endpoint(1, "r"); !errors.Is(err, driver.ErrOption) {
		t.Errorf("a port beyond the last: %v", err)
	}
}

// plug is a Socket that notes what it is connected to.
type plug struct {
	name  string
	to    []string
	fails bool
}

func (p *plug) Bind(endpoint string) (string, error) { return p.name, nil }

func (p *plug) Connect(endpoint string) error {
	if p.fails {
		return errors.New("no")
	}
	p.to = append(p.to, endpoint)
	return nil
}

func (p *plug) Disconnect(endpoint string) {
	p.to = slices.DeleteFunc(p.to, func(e string) bool { return e == endpoint })
}

func TestWhoMeetsWhom(t *testing.T) {
	var d Directory
	r, err := d.Enter("r", Address{Scheme: "inproc"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	same, _ := d.Enter("r", Address{Scheme: "inproc"}, func(*Room) error { t.Error("opened twice"); return nil })
	other, _ := d.Enter("other", Address{Scheme: "inproc"}, nil)
	if same != r || other == r {
		t.Error("a room is not its run's")
	}
	early, late, stranger := &plug{name: "early"}, &plug{name: "late"}, &plug{name: "stranger"}
	a, b := &plug{name: "a"}, &plug{name: "b"}
	add := func(p *plug, binds bool, keys ...string) *Member {
		m, _, err := r.Add(p, binds, keys...)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	add(early, false, "t0", "t1")
	ma := add(a, true, "t0")
	mb := add(b, true, "t1")
	add(late, false, "t1")
	add(stranger, false, "t2")
	if !slices.Equal(early.to, []string{"a", "b"}) || !slices.Equal(late.to, []string{"b"}) || len(stranger.to) != 0 {
		t.Errorf("early is connected to %v, late to %v, stranger to %v", early.to, late.to, stranger.to)
	}
	if ma.Peers() != 1 || mb.Peers() != 2 {
		t.Errorf("a has %d peers, b %d", ma.Peers(), mb.Peers())
	}
	r.Remove(mb)
	r.Remove(mb)
	if !slices.Equal(early.to, []string{"a"}) || len(late.to) != 0 {
		t.Errorf("without b early is connected to %v, late to %v", early.to, late.to)
	}
	if _, _, err := r.Add(&plug{fails: true}, false, "t0"); err == nil || ma.Peers() != 1 {
		t.Errorf("one that cannot connect is in the room: %v, %d", err, ma.Peers())
	}
}

func TestTheLastOneOutClosesTheDoor(t *testing.T) {
	var d Directory
	r, err := d.Enter("r", Address{Scheme: "ipc"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(r.Address().Path)
	d.Enter("r", Address{Scheme: "ipc"}, nil)
	r.Leave(func() { t.Error("closed under the second") })
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
	var closed bool
	r.Leave(func() { closed = true })
	if _, err := os.Stat(dir); !os.IsNotExist(err) || !closed {
		t.Errorf("closed %v, directory: %v", closed, err)
	}
}

func TestCheckSaysWhyNot(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := filepath.Join(t.TempDir(), "s")
	u, err := net.Listen("unix", path+".0")
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	for _, tt := range []struct {
		a    Address
		hint string
	}{
		{Address{Scheme: "tcp", Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port}, "taken"},
		{Address{Scheme: "tcp", Host: "192.0.2.1"}, "does not have that address"},
		{Address{Scheme: "ipc", Path: path}, "taken"},
		{Address{Scheme: "ipc", Path: filepath.Join(path, "nowhere", "s")}, "bind at"},
	} {
		var d Directory
		if _, err := d.Enter("r", tt.a, nil); !errors.Is(err, driver.ErrNotConnected) || !strings.Contains(err.Error(), tt.hint) {
			t.Errorf("%v: %v; want not connected, with %q", tt.a, err, tt.hint)
		}
	}
	// What a killed process has left is no hindrance.
	u.(*net.UnixListener).SetUnlinkOnClose(false)
	u.Close()
	var d Directory
	r, err := d.Enter("r", Address{Scheme: "ipc", Path: path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Leave(nil)
}

// What is published meets whoever subscribes, what is pushed its topic only.
func TestLines(t *testing.T) {
	for _, tt := range []struct {
		spec   driver.ProducerSpec
		pushes bool
		line   Line
		head   string
		meets  []string
	}{
		{driver.ProducerSpec{Conn: 3, Topic: "t0"}, false, Line{Conn: 3}, "t0\x00", published()},
		{driver.ProducerSpec{Conn: 3, Topic: "t1"}, false, Line{Conn: 3}, "t1\x00", published()},
		{driver.ProducerSpec{Conn: 3, Topic: "t1"}, true, Line{Conn: 3, Topic: "t1"}, "", pushed("t0", "t1")[1:]},
	} {
		line, head := lineOf(tt.spec, tt.pushes)
		if line != tt.line || head != tt.head || !slices.Equal(line.Keys(), tt.meets) {
			t.Errorf("%+v, pushes %v: %+v, %q, %q; want %+v, %q, %q", tt.spec, tt.pushes, line, head, line.Keys(), tt.line, tt.head, tt.meets)
		}
	}
	if slices.Equal(requested("t0"), pushed("t0")) {
		t.Error("requesters meet pushers")
	}
}
