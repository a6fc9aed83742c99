package netns

import (
	"os"
	"strconv"
)

// path is where other processes of this user find the namespace, as long as it is held here.
func (s *space) path() string {
	return "/proc/" + strconv.Itoa(os.Getpid()) + "/fd/" + strconv.Itoa(s.fd())
}

// Namespace returns the path of the node's namespace.
func (n *Node) Namespace() string { return n.space.path() }

// Switch returns the path of the namespace in which the bridge is. Its port that leads to this process's
// namespace has the name of [HostPort].
func (n *Network) Switch() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hub == nil {
		return ""
	}
	return n.hub.path()
}
