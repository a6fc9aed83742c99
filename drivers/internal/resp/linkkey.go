package resp

import "sixnines/drivers/internal/kit"

// LinkKey names a connection within its session. In a cluster each channel or key has connections of its own, which go where
// its slot is.
type LinkKey struct {
	kit.Key
	To string // the channel or key; empty outside of clusters
}

// LinkKey returns that of a connection for messages to or from a channel or key.
func (cl *Client) LinkKey(k kit.Key, to string) LinkKey {
	if cl.cluster == nil {
		to = ""
	}
	return LinkKey{k, to}
}

// String returns the name by which people see the connection.
func (k LinkKey) String() string {
	if k.To == "" {
		return k.Key.String()
	}
	return k.Key.String() + "/" + k.To
}
