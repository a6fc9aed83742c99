package jetstream

import "bytes"

// delivery is what the reply subject of a delivered message says about it.
type delivery struct {
	name     []byte // of the server's consumer
	times    uint64 // how often the message has been delivered
	stream   uint64 // number of the message in the stream
	consumer uint64 // number of the delivery by the consumer
}

// parseDelivery reads
//
//	$JS.ACK.<stream>.<consumer>.<times>.<stream seq>.<consumer seq>.<time>.<pending>
//
// or the longer form, which has a domain and an account's hash before the stream
// and may have something random at its end.
func parseDelivery(reply []byte) (d delivery, ok bool) {
	const head = "$JS.ACK."
	if len(reply) < len(head) || string(reply[:len(head)]) != head {
		return d, false
	}
	rest := reply[len(head):]
	skip := 2 // stream and consumer
	if bytes.Count(rest, []byte{'.'}) >= 8 {
		skip = 4
	}
	for range skip {
		i := bytes.IndexByte(rest, '.')
		if i < 0 {
			return d, false
		}
		d.name = rest[:i]
		rest = rest[i+1:]
	}
	for _, into := range []*uint64{&d.times, &d.stream, &d.consumer} {
		i := bytes.IndexByte(rest, '.')
		if i <= 0 || i > 19 {
			return d, false
		}
		n := uint64(0)
		for _, c := range rest[:i] {
			if c < '0' || c > '9' {
				return d, false
			}
			n = n*10 + uint64(c-'0')
		}
		*into = n
		rest = rest[i+1:]
	}
	return d, true
}
