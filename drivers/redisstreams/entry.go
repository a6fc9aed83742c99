package redisstreams

import (
	"fmt"
	"math"
	"strconv"

	"sixnines/drivers/internal/resp"
)

// id is the identifier of an entry: a time in milliseconds and a number within
// it. The zero id is before all entries.
type id struct{ ms, seq uint64 }

// append appends the identifier as the server writes it.
func (i id) append(b []byte) []byte {
	b = strconv.AppendUint(b, i.ms, 10)
	b = append(b, '-')
	return strconv.AppendUint(b, i.seq, 10)
}

// after reports whether i comes after other in a stream.
func (i id) after(other id) bool {
	return i.ms > other.ms || i.ms == other.ms && i.seq > other.seq
}

// next returns the least identifier after i.
func (i id) next() id {
	if i.seq == math.MaxUint64 {
		return id{i.ms + 1, 0}
	}
	return id{i.ms, i.seq + 1}
}

// String returns the identifier as the server writes it.
func (i id) String() string { return string(i.append(nil)) }

// parseID reads an identifier.
func parseID(text []byte) (i id, ok bool) {
	part := &i.ms
	digits := 0
	for n := range len(text) {
		switch c := text[n]; {
		case c == '-' && part == &i.ms && digits > 0:
			part, digits = &i.seq, 0
		case c >= '0' && c <= '9':
			d := uint64(c - '0')
			if *part > (math.MaxUint64-d)/10 {
				return id{}, false
			}
			*part = 10**part + d
			digits++
		default:
			return id{}, false
		}
	}
	return i, part == &i.seq && digits > 0
}

// entries takes the answer to an XREAD or XREADGROUP apart while it comes in, so
// that no more of it than one entry need be in memory.
type entries struct{ *resp.Reader }

// sink takes the entries of an answer.
type sink interface {
	// stream returns the number of the stream with the key; false: not asked for.
	stream(key []byte) (int, bool)
	// entry takes an entry. The payload is valid until it returns, and nil for an
	// entry that has been deleted.
	entry(stream int, i id, payload []byte)
}

// read takes one answer and returns how many entries it had.
func (e entries) read(to sink) (count int, err error) {
	streams, err := e.Array()
	if err != nil {
		return 0, err
	}
	for range max(0, streams) {
		if err := e.tuple(2); err != nil {
			return count, err
		}
		key, err := e.Bulk()
		if err != nil {
			return count, err
		}
		stream, ok := to.stream(key)
		if !ok {
			return count, unasked(string(key))
		}
		n, err := e.Array()
		if err != nil {
			return count, err
		}
		for range max(0, n) {
			if err := e.one(stream, to); err != nil {
				return count, err
			}
			count++
		}
	}
	return count, nil
}

// tuple takes the head of an array of just n replies.
func (e entries) tuple(n int64) error {
	got, err := e.Array()
	if err == nil && got != n {
		err = fmt.Errorf("%w: an array of %d where %d should be", resp.ErrProtocol, got, n)
	}
	return err
}

// one takes an entry: its identifier, and an array of names and values.
func (e entries) one(stream int, to sink) error {
	if err := e.tuple(2); err != nil {
		return err
	}
	text, err := e.Bulk()
	if err != nil {
		return err
	}
	i, ok := parseID(text)
	if !ok {
		return fmt.Errorf("%w: %.40q is no identifier", resp.ErrProtocol, text)
	}
	fields, err := e.Array()
	if err != nil {
		return err
	}
	if fields < 2 { // deleted, but still waiting for its acknowledgement
		if err := e.Skip(fields); err != nil {
			return err
		}
		to.entry(stream, i, nil)
		return nil
	}
	// The payload is the last field; before it are headers.
	if err := e.Skip(fields - 1); err != nil {
		return err
	}
	payload, err := e.Bulk()
	if err != nil {
		return err
	}
	if payload == nil {
		return fmt.Errorf("%w: a field without a value", resp.ErrProtocol)
	}
	to.entry(stream, i, payload)
	return nil
}

// unasked is the error of an answer about a stream that was not asked for.
func unasked(key string) error {
	return fmt.Errorf("%w: an answer about stream %.80q, which was not asked for", resp.ErrProtocol, key)
}
