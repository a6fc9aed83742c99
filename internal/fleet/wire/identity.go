package wire

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Identity is what makes an agent the one that it says it is: a key of its process, of which [Hello].ID is a
// digest. A control plane that sixnines starts asks for its signature, and lets the agent publish as that ID alone.
type Identity struct {
	pair   nkeys.KeyPair
	public string
}

// NewIdentity makes the identity of a process.
func NewIdentity() (*Identity, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return &Identity{pair, public}, nil
}

// Public is the public half of the key.
func (i *Identity) Public() string { return i.public }

// ID is the agent's number.
func (i *Identity) ID() string { return idOf(i.public) }

// idOf is the number of the agent with a public key.
func idOf(public string) string {
	sum := sha256.Sum256([]byte(public))
	return base32.StdEncoding.EncodeToString(sum[:])[:idLength]
}

// Proven returns the number of the agent that signed nonce with the key whose public half it sent; false if it did not.
func Proven(public string, nonce, signature []byte) (id string, ok bool) {
	if !nkeys.IsValidPublicUserKey(public) || len(nonce) == 0 {
		return "", false
	}
	key, err := nkeys.FromPublicKey(public)
	if err != nil || key.Verify(nonce, signature) != nil {
		return "", false
	}
	return idOf(public), true
}

// options are those by which an agent proves who it is.
func (i *Identity) options() []nats.Option {
	return []nats.Option{nats.Nkey(i.public, i.pair.Sign), nats.CustomInboxPrefix(InboxPrefix(i.ID()))}
}

// InboxPrefix begins the subjects by which an agent is answered, which no other agent can read.
func InboxPrefix(id string) string { return nats.InboxPrefix + id }
