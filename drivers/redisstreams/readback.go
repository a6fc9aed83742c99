package redisstreams

import (
	"context"
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

// ReadBack implements driver.BackReader by XRANGE, page by page, until a page is not full.
func (s *session) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	none := driver.Reading{}
	key, err := s.key(p.Topic)
	if err != nil {
		return none, err
	}
	there, err := s.Control.Do(ctx, "EXISTS", key)
	if err == nil && there != int64(1) {
		err = driver.ErrNoTopic
	}
	if err != nil {
		return none, s.Wrap(err, "read stream %q back", key)
	}
	found := driver.Reading{Until: driver.ReadToPosition, Removed: s.options.MaxLen > 0}
	for from := (id{}); ; {
		reply, err := s.Control.Do(ctx, "XRANGE", key, from.String(), "+", "COUNT", pageLength)
		if err != nil {
			return none, s.Wrap(err, "read stream %q back, after %d entries", key, found.Messages)
		}
		page, _ := reply.([]any)
		for _, e := range page {
			at, payload, err := entryOf(e)
			if err != nil {
				return none, s.Wrap(err, "read stream %q back", key)
			}
			from = at.next()
			found.Messages++
			take(driver.Kept{Payload: payload})
		}
		if len(page) < pageLength {
			return found, nil
		}
	}
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
