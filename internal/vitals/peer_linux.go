package vitals

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// findPeers returns the numbers of the processes, on this machine and in this network
// namespace, that have the other ends of connections. Only root sees processes of other
// users. The error is errElsewhere if the other ends are not on this machine or are this
// process's own.
func findPeers(root fs.FS, connections []Connection) ([]int, error) {
	sockets, err := otherEnds(root, connections)
	if err != nil {
		return nil, err
	}
	if len(sockets) == 0 {
		return nil, errElsewhere
	}
	var found []int
	processes, err := fs.ReadDir(root, "proc")
	if err != nil {
		return nil, err
	}
	for _, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		if holdsAny(root, pid, sockets) && pid != os.Getpid() {
			found = append(found, pid)
		}
		if len(sockets) == 0 {
			break
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(sockets) > 0:
		return nil, errors.New("the process at the other end of the connections cannot be seen: it belongs to another user or runs in another container")
	}
	return nil, errElsewhere // in this process
}

// holdsAny reports whether a process has one of the sockets, and removes those that it has
// from sockets.
func holdsAny(root fs.FS, pid int, sockets map[string]bool) (any bool) {
	dir := fmt.Sprintf("proc/%d/fd", pid)
	files, err := fs.ReadDir(root, dir)
	if err != nil {
		return false // it has ended, or is another user's
	}
	for _, f := range files {
		link, err := fs.ReadLink(root, dir+"/"+f.Name())
		if err == nil && sockets[link] {
			any = true
			delete(sockets, link)
		}
	}
	return any
}

// otherEnds returns the sockets on this machine at the other end of connections, named as
// in links below /proc/PID/fd: socket:[inode].
func otherEnds(root fs.FS, connections []Connection) (map[string]bool, error) {
	wanted := map[Connection]bool{}
	for _, c := range connections {
		wanted[Connection{Local: unmapped(c.Remote), Remote: unmapped(c.Local)}] = true
	}
	sockets := map[string]bool{}
	for _, table := range []string{"proc/net/tcp", "proc/net/tcp6"} {
		text, err := fs.ReadFile(root, table)
		if errors.Is(err, fs.ErrNotExist) && table == "proc/net/tcp6" {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if c, inode, ok := parseSocket(line); ok && wanted[c] {
				sockets["socket:["+inode+"]"] = true
			}
		}
	}
	return sockets, nil
}

// parseSocket takes both addresses and the inode (columns 2, 3 and 10) from a line of
// /proc/net/tcp or tcp6 (proc_pid_net(5)). A socket with inode 0 belongs to no process.
func parseSocket(line string) (c Connection, inode string, ok bool) {
	column := strings.Fields(line)
	if len(column) < 10 || column[9] == "0" {
		return c, "", false
	}
	if c.Local, ok = parseAddress(column[1]); !ok {
		return c, "", false
	}
	c.Remote, ok = parseAddress(column[2])
	return c, column[9], ok
}

// parseAddress reads an address in words of 32 bits as this machine has them in memory, and
// a port.
func parseAddress(text string) (netip.AddrPort, bool) {
	words, after, ok := strings.Cut(text, ":")
	if !ok || len(words) != 8 && len(words) != 32 {
		return netip.AddrPort{}, false
	}
	port, err := strconv.ParseUint(after, 16, 16)
	if err != nil {
		return netip.AddrPort{}, false
	}
	var octets []byte
	for ; len(words) > 0; words = words[8:] {
		word, err := strconv.ParseUint(words[:8], 16, 32)
		if err != nil {
			return netip.AddrPort{}, false
		}
		octets = binary.NativeEndian.AppendUint32(octets, uint32(word))
	}
	a, ok := netip.AddrFromSlice(octets)
	return unmapped(netip.AddrPortFrom(a, uint16(port))), ok
}

// unmapped returns an address as the kernel's tables have it: an IPv4 address not mapped
// into IPv6, and without a zone.
func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}
