package resp

import (
	"context"
	"fmt"

	"sixnines/driver"
)

// mostHops is how often a command is sent on to another server of a cluster before that counts as a failure.
const mostHops = 8

// Do sends a command about a key and returns its reply, as Control.Do does. In a cluster it goes to the server that has the
// key's slot, and follows to the one that it is referred to.
func (s *Session) Do(ctx context.Context, key, command string, args ...any) (any, error) {
	if s.cluster == nil {
		return s.Control.Do(ctx, command, args...)
	}
	lost := false
	asked := "" // the server that has the key of a slot which is being moved
	for hops := 0; ; hops++ {
		at := asked
		if at == "" {
			owner, err := s.cluster.owner(ctx, key)
			if err != nil {
				return nil, err
			}
			at = owner.Address
		}
		c, err := s.controlAt(at)
		if err != nil {
			return nil, err
		}
		reply, err := c.exchange(ctx, func(conn *Conn) (any, error) {
			if asked != "" {
				if _, err := conn.Do("ASKING"); err != nil {
					return nil, err
				}
			}
			return conn.Do(command, args...)
		})
		asked = ""
		text, said := ReplyText(err)
		r, referred := redirectionOf(text, at)
		switch {
		case err == nil || ctx.Err() != nil:
			return reply, err
		case referred && hops < mostHops:
			if r.asks {
				asked = r.address
				s.masters.await(s.Life, asked)
			} else {
				s.cluster.note(r)
				s.cluster.suspect()
			}
		case said:
			return nil, s.Referred(at, err)
		case lost: // a second time
			return nil, err
		default:
			lost = true
			s.cluster.suspect()
		}
	}
}

// controlAt returns the session's own connection to a server of its cluster.
func (s *Session) controlAt(address string) (*Control, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("%s: session %w", s.Driver, driver.ErrClosed)
	}
	c := s.servers[address]
	if c == nil {
		at := s.serverAt(address)
		c = unconnected(s.Client, &at)
		if s.servers == nil {
			s.servers = map[string]*Control{}
		}
		s.servers[address] = c
	}
	return c, nil
}

// Masters returns the session's own connections to all servers that keep keys: of a cluster its masters.
func (s *Session) Masters(ctx context.Context) (all []*Control, err error) {
	if s.cluster == nil {
		return []*Control{s.Control}, nil
	}
	v, err := s.cluster.view(ctx)
	if err != nil {
		return nil, err
	}
	for _, at := range v.masters() {
		c, err := s.controlAt(at)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// Info returns what the server tells of itself that has a key.
func (s *Session) Info(ctx context.Context, key string) (map[string]string, error) {
	if s.cluster == nil {
		return s.Control.Info(ctx)
	}
	at, err := s.cluster.owner(ctx, key)
	if err != nil {
		return nil, err
	}
	c, err := s.controlAt(at.Address)
	if err != nil {
		return nil, err
	}
	return c.Info(ctx)
}

// SameSlot divides keys, which keep their order, into those that one command may name: in a cluster those of one slot.
func (s *Session) SameSlot(keys []string) (all [][]string) {
	if s.cluster == nil {
		return [][]string{keys}
	}
	place := map[int]int{}
	for _, key := range keys {
		slot := slotOf(key)
		at, ok := place[slot]
		if !ok {
			at = len(all)
			place[slot] = at
			all = append(all, nil)
		}
		all[at] = append(all[at], key)
	}
	return all
}

// Clustered reports whether the servers are a cluster.
func (cl *Client) Clustered() bool { return cl.cluster != nil }
