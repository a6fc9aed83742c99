package mqtt

import (
	"encoding/binary"
	"fmt"

	"sixnines/driver"
)

// publication is what a PUBLISH packet says beside its payload.
type publication struct {
	v5    bool
	flags byte   // the quality of service and RETAIN
	topic string // empty with an alias
	alias uint16 // 0: none
	id    uint16
	user  []byte // see userProperties
}

// userProperties returns headers as user properties.
func userProperties(headers []driver.Header) (b []byte) {
	for _, h := range headers {
		b = appendString(appendString(append(b, propUser), h.Name), h.Value)
	}
	return b
}

// appendPublish appends a PUBLISH packet.
func appendPublish(b []byte, p publication, payload []byte) []byte {
	b = appendLength(append(b, typePublish|p.flags), p.size(len(payload)))
	b = appendString(b, p.topic)
	if p.flags&6 != 0 {
		b = append(b, byte(p.id>>8), byte(p.id))
	}
	if p.v5 {
		b = appendLength(b, p.properties())
		if p.alias != 0 {
			b = append(b, propAlias, byte(p.alias>>8), byte(p.alias))
		}
		b = append(b, p.user...)
	}
	return append(b, payload...)
}

// properties is how many bytes they take.
func (p publication) properties() int {
	if p.alias != 0 {
		return 3 + len(p.user)
	}
	return len(p.user)
}

// size returns the packet's remaining length, in bytes, with a payload of payload bytes:
// without its first byte and the length itself.
func (p publication) size(payload int) int {
	n := 2 + len(p.topic) + payload
	if p.flags&6 != 0 {
		n += 2
	}
	if p.v5 {
		n += lengthSize(p.properties()) + p.properties()
	}
	return n
}

// headMost is more than the bytes of a PUBLISH packet beside topic, user properties
// and payload.
const headMost = 16

// published is a PUBLISH packet as it came. Its payload is part of the packet.
type published struct {
	qos         byte
	redelivered bool
	retained    bool
	topic       []byte
	id          uint16
	payload     []byte
}

// parsePublish takes a PUBLISH packet apart.
func parsePublish(v5 bool, first byte, body []byte) (p published, err error) {
	p.qos, p.redelivered, p.retained = first>>1&3, first&flagDup != 0, first&flagRetain != 0
	if p.qos == 3 {
		return p, fmt.Errorf("%w: PUBLISH of quality 3", errMalformed)
	}
	if len(body) < 2 {
		return p, fmt.Errorf("%w: PUBLISH of %d bytes", errMalformed, len(body))
	}
	n := int(binary.BigEndian.Uint16(body))
	rest := body[2:]
	if len(rest) < n {
		return p, fmt.Errorf("%w: PUBLISH with half a topic", errMalformed)
	}
	p.topic, rest = rest[:n], rest[n:]
	if p.qos > 0 {
		if len(rest) < 2 {
			return p, fmt.Errorf("%w: PUBLISH without its number", errMalformed)
		}
		if p.id = binary.BigEndian.Uint16(rest); p.id == 0 {
			return p, fmt.Errorf("%w: PUBLISH with number 0", errMalformed)
		}
		rest = rest[2:]
	}
	if v5 {
		n, size, err := length(rest)
		if err != nil || size == 0 || len(rest)-size < n {
			return p, fmt.Errorf("%w: PUBLISH with half its properties", errMalformed)
		}
		rest = rest[size+n:]
	}
	p.payload = rest[:len(rest):len(rest)]
	return p, nil
}
