package vitals

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	socketsHead = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	// A broker's listener, its end of our connection, our end, and a socket without a process.
	socketsText = socketsHead +
		"   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 501 1 0000000000000000 100 0 0 10 0\n" +
		"   1: 0100007F:1F40 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 502 1 0000000000000000 20 4 30 10 -1\n" +
		"   2: 0100007F:C350 0100007F:1F40 01 00000000:00000000 00:00000000 00000000     0        0 503 1 0000000000000000 20 4 30 10 -1\n" +
		"   3: 0100007F:1F40 0100007F:C351 06 00000000:00000000 03:00000A00 00000000     0        0 0 3 0000000000000000\n"
	sockets6Text = socketsHead +
		"   0: 0000000000000000FFFF00000100007F:1F41 0000000000000000FFFF00000100007F:C352 01 00000000:00000000 00:00000000 00000000     0        0 601 1 0000000000000000 20 4 30 10 -1\n" +
		"   1: 00000000000000000000000001000000:1F42 00000000000000000000000001000000:C353 01 00000000:00000000 00:00000000 00000000     0        0 602 1 0000000000000000 20 4 30 10 -1\n"
)

func connection(local, remote string) Connection {
	return Connection{netip.MustParseAddrPort(local), netip.MustParseAddrPort(remote)}
}

// link is a file in a process's fd.
func link(to string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink} }

func TestFindPeers(t *testing.T) {
	root := fstest.MapFS{
		"proc/net/tcp":                           {Data: []byte(socketsText)},
		"proc/net/tcp6":                          {Data: []byte(sockets6Text)},
		"proc/7/fd/0":                            link("/dev/null"),
		"proc/7/fd/5":                            link("socket:[501]"),
		"proc/8/fd/3":                            link("socket:[502]"),
		"proc/8/fd/4":                            link("socket:[601]"),
		"proc/9/fd/3":                            link("socket:[602]"),
		"proc/self/fd/3":                         link("socket:[503]"),
		fmt.Sprintf("proc/%d/fd/3", os.Getpid()): link("socket:[503]"),
	}
	for _, c := range []struct {
		name string
		of   []Connection
		want []int
		why  string // part of the error
	}{
		{"one", []Connection{connection("127.0.0.1:50000", "127.0.0.1:8000")}, []int{8}, ""},
		{"within IPv6", []Connection{connection("[::ffff:127.0.0.1]:50002", "127.0.0.1:8001")}, []int{8}, ""},
		{"IPv6, a second process, and one that is elsewhere", []Connection{connection("[::1]:50003", "[::1]:8002"),
			connection("127.0.0.1:50000", "127.0.0.1:8000"), connection("10.0.0.1:50000", "10.0.0.2:8000")}, []int{8, 9}, ""},
		{"this process itself", []Connection{connection("127.0.0.1:8000", "127.0.0.1:50000")}, nil, errElsewhere.Error()},
		{"elsewhere", []Connection{connection("10.0.0.1:50000", "10.0.0.2:8000")}, nil, errElsewhere.Error()},
		{"a socket that nobody has any more", []Connection{connection("127.0.0.1:50001", "127.0.0.1:8000")}, nil, errElsewhere.Error()},
		{"no connection", nil, nil, errElsewhere.Error()},
	} {
		got, err := findPeers(root, c.of)
		if slices.Sort(got); !slices.Equal(got, c.want) || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, %v; want %v, %q", c.name, got, err, c.want, c.why)
		}
	}
	delete(root, "proc/8/fd/3")
	delete(root, "proc/net/tcp6") // no IPv6
	if got, err := findPeers(root, []Connection{connection("127.0.0.1:50000", "127.0.0.1:8000")}); err == nil || errors.Is(err, errElsewhere) {
		t.Errorf("a process that cannot be seen: %v, %v", got, err)
	}
}

func TestParseSocket(t *testing.T) {
	for _, bad := range []string{"", socketsHead, "0: 0100007F:1F40", "0: 0100007F 0100007F:C350 01 0 0 0 0 0 502", "0: 0100007F:1F40 0100007F:XX 01 0 0 0 0 0 502",
		"0: 0100007:1F40 0100007F:C350 01 0 0 0 0 0 502", "0: 0100007G:1F40 0100007F:C350 01 0 0 0 0 0 502", "0: 0100007F:1F40 0100007F:C350 01 0 0 0 0 0 0"} {
		if c, inode, ok := parseSocket(bad); ok {
			t.Errorf("%q gives %v, %s", bad, c, inode)
		}
	}
}
