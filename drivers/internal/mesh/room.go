package mesh

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"sixnines/driver"
)

// Directory knows the rooms of all runs. The zero value is an empty one. It is
// safe for concurrent use.
type Directory struct {
	mu    sync.Mutex
	rooms map[string]*Room
}

// Room is where the sockets of one run meet. It is safe for concurrent use.
type Room struct {
	// Shared is what the open of Enter has made for all sessions of the run.
	Shared any

	directory *Directory
	key, run  string
	sessions  int // guarded by the directory's mu
	address   Address
	temporary string // a directory to remove

	largest atomic.Int64 // message of the run, in bytes; 0: not known

	mu      sync.Mutex // held while sockets bind and connect
	members []*Member
	next    int // number of the next socket that binds
}

// Socket is what a driver makes of its library's. The room calls its methods
// one at a time.
type Socket interface {
	// Bind binds to endpoint and returns it with the port that it came to have.
	Bind(endpoint string) (bound string, err error)
	// Connect connects to what another has bound.
	Connect(endpoint string) error
	// Disconnect forgets an endpoint to which Connect has connected.
	Disconnect(endpoint string)
}

// Member is a socket in a room.
type Member struct {
	Socket Socket
	room   *Room
	keys   []string
	binds  bool
	at     string // where it is bound
	peers  atomic.Int64
}

// Peers returns the number of sockets of the other side. It is cheap.
func (m *Member) Peers() int { return int(m.peers.Load()) }

// Enter returns the room of a run at an address. The first call for a room checks the
// address and calls open, if not nil. Each call must be matched by one of Leave.
func (d *Directory) Enter(run string, a Address, open func(*Room) error) (*Room, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := run + " " + a.String()
	if r := d.rooms[key]; r != nil {
		r.sessions++
		return r, nil
	}
	r := &Room{directory: d, key: key, run: run, sessions: 1, address: a}
	if a.Scheme == "ipc" && a.Path == "" {
		dir, err := os.MkdirTemp("", "sixnines-")
		if err != nil {
			return nil, fmt.Errorf("make a directory for sockets: %w: %w", driver.ErrNotConnected, err)
		}
		r.temporary, r.address.Path = dir, filepath.Join(dir, "s")
	}
	err := r.address.check()
	if err == nil && open != nil {
		err = open(r)
	}
	if err != nil {
		r.clean()
		return nil, err
	}
	if d.rooms == nil {
		d.rooms = map[string]*Room{}
	}
	d.rooms[key] = r
	return r, nil
}

// Leave undoes an Enter. The last call for a room calls closed, if not nil, which must
// return when no socket is bound any more or its time limit is over.
func (r *Room) Leave(closed func()) {
	d := r.directory
	d.mu.Lock()
	r.sessions--
	last := r.sessions == 0
	if last {
		delete(d.rooms, r.key)
	}
	d.mu.Unlock()
	if !last {
		return
	}
	if closed != nil {
		closed()
	}
	r.clean()
}

func (r *Room) clean() {
	if r.temporary != "" {
		os.RemoveAll(r.temporary)
	}
}

// Address returns the room's address. The path of ipc is filled in.
func (r *Room) Address() Address { return r.address }

// Add binds the socket, if it is one that binds, and connects it to, or with,
// all those of the other side with which it has a key in common, which it returns
// as well. If there is an error the socket is in the state that it has got to,
// and must be closed.
func (r *Room) Add(s Socket, binds bool, keys ...string) (*Member, []*Member, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := &Member{Socket: s, room: r, binds: binds, keys: keys}
	if binds {
		endpoint, err := r.address.endpoint(r.next, r.run)
		if err != nil {
			return nil, nil, err
		}
		r.next++
		bound, err := s.Bind(endpoint)
		if err != nil && driver.Class(err) == nil {
			err = r.address.bindError(err)
		}
		if err != nil {
			return nil, nil, err
		}
		m.at = r.address.reachable(bound)
	}
	var others []*Member
	for i, o := range r.members {
		if !m.meets(o) {
			continue
		}
		var err error
		if binds {
			err = o.Socket.Connect(m.at)
		} else {
			err = s.Connect(o.at)
		}
		if err != nil {
			for _, before := range r.members[:i+1] {
				if binds && m.meets(before) {
					before.Socket.Disconnect(m.at)
				}
			}
			return nil, nil, err
		}
		others = append(others, o)
	}
	for _, o := range r.members {
		if m.meets(o) {
			o.peers.Add(1)
			m.peers.Add(1)
		}
	}
	r.members = append(r.members, m)
	return m, others, nil
}

// Remove takes the member out, which must then be closed. Those that are
// connected to it do not try to come back to it.
func (r *Room) Remove(m *Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.members, m)
	if i < 0 {
		return
	}
	r.members = slices.Delete(r.members, i, i+1)
	for _, o := range r.members {
		if !m.meets(o) {
			continue
		}
		o.peers.Add(-1)
		if m.binds {
			o.Socket.Disconnect(m.at)
		}
	}
}

// meets reports whether one of the two binds, the other connects, and a key is
// both of theirs.
func (m *Member) meets(o *Member) bool {
	return m.binds != o.binds && slices.ContainsFunc(m.keys, func(key string) bool { return slices.Contains(o.keys, key) })
}
