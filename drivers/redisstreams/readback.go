package redisstreams

import (
	"context"
	"errors"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// pageLength is how many entries one XRANGE asks for.
const pageLength = 256

// Places implements driver.BackReader: the stream of each topic, from which only the option
// maxlen removes entries.
func (s *session) Places(t driver.Topology) (all []driver.Place, err error) {
	for _, topic := range t.Topics {
		if _, err := s.key(topic); err != nil {
			return nil, err
		}
		all = append(all, driver.Place{Topic: topic, Log: true})
	}
	return all, nil
}

// ReadBack implements driver.BackReader by XRANGE, page by page, until a page is not full. All pages are of one
// server: a master that takes over meanwhile may lack what the last one had.
func (s *session) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	none := driver.Reading{}
	key, err := s.key(p.Topic)
	if err != nil {
		return none, err
	}
	before, err := s.server(ctx, key)
	if err != nil {
		return none, s.Wrap(err, "read stream %q back", key)
	}
	found := driver.Reading{Until: driver.ReadToPosition, Removed: s.options.MaxLen > 0}
	if n := before["connected_slaves"]; n != "" && n != "0" {
		found.Copy = "master"
	}
	found.Messages, err = readStream(func(command string, args ...any) (any, error) { return s.Do(ctx, key, command, args...) }, key, take)
	if err != nil {
		return none, s.Wrap(err, "read stream %q back, after %d entries", key, found.Messages)
	}
	if err == nil && found.Removed {
		found.Dropped, err = s.trimmed(ctx, key)
	}
	if err != nil {
		return none, s.Wrap(err, "ask how much stream %q has lost to its limit", key)
	}
	after, err := s.server(ctx, key)
	if err == nil && after["run_id"] != before["run_id"] {
		err = fmt.Errorf("%w: another server has taken over meanwhile", driver.ErrNotConnected)
	}
	return found, s.Wrap(err, "read stream %q back", key)
}

// trimmed returns how many entries of a stream are no longer there, all of them the oldest since nothing deletes single
// ones; 0: the server does not say, which is older than Redis 7.0.
func (s *session) trimmed(ctx context.Context, key string) (int64, error) {
	reply, err := s.Do(ctx, key, "XINFO", "STREAM", key)
	if errors.Is(err, driver.ErrUnauthorized) || errors.Is(err, driver.ErrUnsupported) {
		return 0, nil
	}
	about := values(reply)
	of := func(name string) (n int64, ok bool) {
		for i := 0; i+1 < len(about); i += 2 {
			if text, _ := about[i].([]byte); string(text) == name {
				n, ok = about[i+1].(int64)
			}
		}
		return n, ok
	}
	added, counts := of("entries-added")
	length, there := of("length")
	if err != nil || !counts || !there {
		return 0, err
	}
	return max(0, added-length), nil
}

// server returns what the server of a stream tells of itself; empty: that is forbidden.
func (s *session) server(ctx context.Context, key string) (map[string]string, error) {
	info, err := s.Info(ctx, key)
	if errors.Is(err, driver.ErrUnauthorized) || errors.Is(err, driver.ErrUnsupported) {
		return nil, nil
	}
	return info, err
}

// readStream reads a whole stream by the commands, and returns how many entries there were.
func readStream(do func(command string, args ...any) (any, error), key string, take driver.Take) (n int64, err error) {
	there, err := do("EXISTS", key)
	if err == nil && there != int64(1) {
		err = driver.ErrNoTopic
	}
	for from := (id{}); err == nil; {
		reply, err := do("XRANGE", key, from.String(), "+", "COUNT", pageLength)
		if err != nil {
			return n, err
		}
		page, _ := reply.([]any)
		for _, e := range page {
			at, payload, err := entryOf(e)
			if err != nil {
				return n, err
			}
			from = at.next()
			n++
			take(driver.Kept{Payload: payload})
		}
		if len(page) < pageLength {
			return n, nil
		}
	}
	return n, err
}

// Replicas implements driver.ReplicaReader.
func (s *session) Replicas(ctx context.Context, p driver.Place) ([]driver.Replica, error) {
	key, err := s.key(p.Topic)
	if err != nil {
		return nil, err
	}
	copies, err := s.Copies(ctx, key)
	if err != nil || len(copies.Replicas) == 0 {
		return nil, s.Wrap(err, "ask for the replicas")
	}
	all := []driver.Replica{{Name: copies.Master, Leader: true, Answer: driver.ReplicaContents}}
	for _, x := range copies.Replicas {
		r := driver.Replica{Name: x.Address, Answer: driver.ReplicaContents}
		if x.Away {
			r.Answer, r.NotAskable = driver.ReplicaSilent, driver.NotAskableOffline
		}
		all = append(all, r)
	}
	return all, nil
}

// ReadReplica implements driver.ReplicaReader by a connection to the replica.
func (s *session) ReadReplica(ctx context.Context, p driver.Place, r driver.Replica, take driver.Take) (driver.Reading, error) {
	found := driver.Reading{Until: driver.ReadToPosition, Copy: r.Name}
	key, err := s.key(p.Topic)
	if err != nil {
		return found, err
	}
	c, err := s.At(ctx, r.Name)
	if err != nil {
		return found, s.Wrap(err, "reach the replica %s", r.Name)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	found.Messages, err = readStream(c.Do, key, take)
	return found, s.Wrap(resp.Explain(err), "read stream %q of the replica %s, after %d entries", key, r.Name, found.Messages)
}

// entryOf returns the identifier and the payload of an entry in a reply; the payload is nil
// for an entry that has been deleted.
func entryOf(reply any) (i id, payload []byte, err error) {
	parts := values(reply)
	if len(parts) != 2 {
		return i, nil, fmt.Errorf("%w: an entry of %d parts", resp.ErrProtocol, len(parts))
	}
	text, _ := parts[0].([]byte)
	i, ok := parseID(text)
	if !ok {
		return i, nil, fmt.Errorf("%w: %.40q is no identifier", resp.ErrProtocol, text)
	}
	fields := values(parts[1])
	if len(fields) == 0 {
		return i, nil, nil
	}
	if payload, ok = fields[len(fields)-1].([]byte); !ok {
		return i, nil, fmt.Errorf("%w: a field without a value", resp.ErrProtocol)
	}
	return i, payload, nil
}
