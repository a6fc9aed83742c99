package resp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"sixnines/driver"
)

// redirection is a server's answer that another one has a slot.
type redirection struct {
	slot    int
	address string
	// asks says that the slot is being moved, and that the other server has this key already. Other keys of the slot
	// may still be where they were.
	asks bool
}

// redirectionOf reads the text of an error reply: MOVED 866 127.0.0.1:7001, or ASK. Without a host the other server is at
// that of the one that said so, from.
func redirectionOf(text, from string) (r redirection, ok bool) {
	words := strings.Fields(text)
	if len(words) < 3 || words[0] != "MOVED" && words[0] != "ASK" {
		return r, false
	}
	slot, err := strconv.Atoi(words[1])
	if err != nil || slot < 0 || slot >= slots {
		return r, false
	}
	i := strings.LastIndexByte(words[2], ':') // an IPv6 address stands there without brackets
	if i < 0 {
		return r, false
	}
	r = redirection{slot, addressOf(words[2][:i], words[2][i+1:], from), words[0] == "ASK"}
	return r, !strings.HasPrefix(r.address, ":")
}

// addressOf joins a host and a port that a server told. What has no host, or an unknown one, is at the server's own.
func addressOf(host, port, from string) string {
	if host == "" || host == "?" {
		host, _, _ = net.SplitHostPort(from)
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// elsewhere is the error of a server of a cluster that does not, or not yet, have what it was asked for. It passes: who
// connects again asks who has it.
type elsewhere struct{ text string }

func (e elsewhere) Error() string { return fmt.Sprintf("the server says %q", e.text) }

// Referred turns an error reply by which a server of a cluster says that it does not have a slot, or that the cluster is not
// whole, into one that passes. Other errors, and all of those outside of clusters, stay as they are. The address is that of
// the server; empty: it is not known.
func (cl *Client) Referred(address string, err error) error {
	text, said := ReplyText(err)
	word, _, _ := strings.Cut(text, " ")
	if cl.cluster == nil || !said || !slices.Contains([]string{"MOVED", "ASK", "CLUSTERDOWN", "TRYAGAIN"}, word) {
		return err
	}
	if r, ok := redirectionOf(text, address); ok && !r.asks {
		cl.cluster.note(r)
	}
	cl.cluster.suspect()
	return fmt.Errorf("%w: %w", driver.ErrNotConnected, elsewhere{text})
}

// Redirected reads an error reply on a connection to a server of a cluster by which that names another one: to is the address
// of that, and asks says that it wants ASKING before each command, see redirection. False: it is no such reply.
func (cl *Client) Redirected(c *Conn, err error) (to string, asks, ok bool) {
	text, said := ReplyText(err)
	if cl.cluster == nil || !said {
		return "", false, false
	}
	r, ok := redirectionOf(text, c.To.Address)
	return r.address, r.asks, ok
}

// Ask connects to a server that has a key already, although not yet its slot, see [Client.Redirected].
func (cl *Client) Ask(ctx context.Context, address, name string) (*Conn, error) {
	cl.masters.await(cl.Life, address)
	return connectMaster(ctx, cl, cl.serverAt(address), name, alone)
}

// Serves reports whether the server of a connection has the slot of a key, as far as is known.
func (cl *Client) Serves(c *Conn, key string) bool {
	v := cl.cluster.known.Load()
	return v != nil && v.owner(slotOf(key)) == c.To.Address
}

// isElsewhere reports whether an error is of Referred.
func isElsewhere(err error) bool {
	var e elsewhere
	return errors.As(err, &e)
}
