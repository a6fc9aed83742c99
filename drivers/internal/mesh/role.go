package mesh

// Role is what a socket is for. Roles stand in pairs: one sends, one receives.
type Role int

// The roles.
const (
	Publishes Role = iota
	Subscribes
	Pushes
	Pulls
	Requests
	Responds
)

// Sends reports whether the socket is a producer's.
func (r Role) Sends() bool { return r%2 == 0 }

// Peer is the other role of the pair.
func (r Role) Peer() Role { return r ^ 1 }

// Binds reports whether the socket binds, by the option bind of the drivers: producers,
// consumers, or natural.
func (r Role) Binds(option string) bool {
	switch option {
	case "producers":
		return r.Sends()
	case "consumers":
		return !r.Sends()
	}
	return r == Publishes || r == Pushes || r == Responds
}
