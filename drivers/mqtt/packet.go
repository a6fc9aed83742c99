package mqtt

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The types of packets, in the high half of their first byte.
const (
	typeConnect     = 1 << 4
	typeConnack     = 2 << 4
	typePublish     = 3 << 4
	typePuback      = 4 << 4
	typePubrec      = 5 << 4
	typePubrel      = 6<<4 | 2 // with the flags that it must have
	typePubcomp     = 7 << 4
	typeSubscribe   = 8<<4 | 2
	typeSuback      = 9 << 4
	typeUnsubscribe = 10<<4 | 2
	typeUnsuback    = 11 << 4
	typePingreq     = 12 << 4
	typePingresp    = 13 << 4
	typeDisconnect  = 14 << 4
	typeMask        = 0xF0
	flagDup         = 1 << 3
	flagRetain      = 1
	connectClean    = 1 << 1
	connectPassword = 1 << 6
	connectUser     = 1 << 7
)

// The properties of MQTT 5 that are used here.
const (
	propSessionExpiry   = 0x11
	propServerKeepAlive = 0x13
	propReason          = 0x1F
	propReceiveMaximum  = 0x21
	propAliasMaximum    = 0x22
	propAlias           = 0x23
	propMaximumQoS      = 0x24
	propRetain          = 0x25
	propMaximumPacket   = 0x27
	propUser            = 0x26
	propShared          = 0x2A
)

const (
	maxString    = 1<<16 - 1
	maxRemaining = 1<<28 - 1 // what a packet's length can say
	idMost       = 1<<16 - 1
)

// errMalformed is wrapped by what is wrong with a packet.
var errMalformed = errors.New("malformed packet")

// appendLength appends a variable byte integer.
func appendLength(b []byte, n int) []byte {
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

// lengthSize returns how many bytes appendLength appends.
func lengthSize(n int) int {
	size := 1
	for n >= 0x80 {
		n >>= 7
		size++
	}
	return size
}

// length reads a variable byte integer and returns how many bytes it has: 0 if
// b is too short.
func length(b []byte) (n, size int, err error) {
	for i := range 4 {
		if i == len(b) {
			return 0, 0, nil
		}
		n |= int(b[i]&0x7F) << (7 * i)
		if b[i] < 0x80 {
			return n, i + 1, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: a length of more than four bytes", errMalformed)
}

func appendString(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
	return append(b, s...)
}

// login is what a client says of itself when it connects.
type login struct {
	v5             bool
	clean          bool
	id             string
	user, password string
	keepAlive      uint16 // seconds
	sessionExpiry  uint32 // seconds
	receiveMaximum uint16
}

// appendConnect appends a CONNECT packet.
func appendConnect(b []byte, l login) []byte {
	body := appendString(nil, "MQTT")
	level, flags := byte(4), byte(0)
	if l.v5 {
		level = 5
	}
	if l.clean {
		flags |= connectClean
	}
	if l.user != "" {
		flags |= connectUser
	}
	if l.password != "" {
		flags |= connectPassword
	}
	body = append(body, level, flags)
	body = binary.BigEndian.AppendUint16(body, l.keepAlive)
	if l.v5 {
		var props []byte
		if l.sessionExpiry > 0 {
			props = binary.BigEndian.AppendUint32(append(props, propSessionExpiry), l.sessionExpiry)
		}
		if l.receiveMaximum > 0 {
			props = binary.BigEndian.AppendUint16(append(props, propReceiveMaximum), l.receiveMaximum)
		}
		body = append(appendLength(body, len(props)), props...)
	}
	body = appendString(body, l.id)
	if l.user != "" {
		body = appendString(body, l.user)
	}
	if l.password != "" {
		body = appendString(body, l.password)
	}
	return append(appendLength(append(b, typeConnect), len(body)), body...)
}

// appendSubscribe appends a SUBSCRIBE packet for the filters. MQTT 5 lets it say
// whether retained messages are wanted; MQTT 3.1.1 always sends them.
func appendSubscribe(b []byte, v5 bool, id uint16, qos int, filters []string, retained bool) []byte {
	how := byte(qos)
	if v5 && !retained {
		how |= 2 << 4
	}
	return appendFilters(b, typeSubscribe, v5, id, filters, how)
}

// appendFilters appends a SUBSCRIBE or UNSUBSCRIBE packet, with how behind each filter.
func appendFilters(b []byte, kind byte, v5 bool, id uint16, filters []string, how ...byte) []byte {
	body := binary.BigEndian.AppendUint16(nil, id)
	if v5 {
		body = append(body, 0)
	}
	for _, f := range filters {
		body = append(appendString(body, f), how...)
	}
	return append(appendLength(append(b, kind), len(body)), body...)
}

// appendAck appends a PUBACK, PUBREC, PUBREL or PUBCOMP that says yes: in MQTT 5
// too, that is the number and nothing else.
func appendAck(b []byte, kind byte, id uint16) []byte {
	return append(b, kind, 2, byte(id>>8), byte(id))
}

// parseAck takes a PUBACK, PUBREC, PUBREL or PUBCOMP apart.
func parseAck(body []byte) (id uint16, why reason, err error) {
	if len(body) < 2 {
		return 0, 0, fmt.Errorf("%w: an acknowledgement of %d bytes", errMalformed, len(body))
	}
	if len(body) > 2 {
		why = reason(body[2])
	}
	return binary.BigEndian.Uint16(body), why, nil
}

// parseSuback returns the answer to each of the filters of a SUBSCRIBE.
func parseSuback(v5 bool, body []byte) (codes []byte, err error) {
	if len(body) < 2 {
		return nil, fmt.Errorf("%w: SUBACK of %d bytes", errMalformed, len(body))
	}
	rest := body[2:]
	if v5 {
		n, size, err := length(rest)
		if err != nil || size == 0 || len(rest)-size < n {
			return nil, fmt.Errorf("%w: SUBACK with half its properties", errMalformed)
		}
		rest = rest[size+n:]
	}
	return rest, nil
}

// greeting is a CONNACK: how the broker answers a login, and its limits.
type greeting struct {
	present        bool // it has kept the session
	code           byte // 0: welcome
	text           string
	receiveMaximum int
	maximumPacket  int // bytes; 0: it has not said
	maximumQoS     int
	aliases        int // how many topic aliases it takes
	keepAlive      int // seconds that it wants; -1: it has not said
	sessionExpiry  int // seconds; -1: what was asked for
	retain, shared bool
}

// unlimited is a CONNACK of a broker that does not mention limits.
func unlimited() greeting {
	return greeting{receiveMaximum: idMost, maximumQoS: 2, retain: true, shared: true, keepAlive: -1, sessionExpiry: -1}
}

// parseConnack takes a CONNACK apart. A broker that does not know MQTT 5 answers
// with the two bytes of MQTT 3.
func parseConnack(v5 bool, body []byte) (greeting, error) {
	g := unlimited()
	if len(body) < 2 {
		return g, fmt.Errorf("%w: CONNACK of %d bytes", errMalformed, len(body))
	}
	g.present, g.code = body[0]&1 != 0, body[1]
	if !v5 || len(body) == 2 {
		return g, nil
	}
	n, size, err := length(body[2:])
	if err != nil || size == 0 || len(body)-2-size < n {
		return g, fmt.Errorf("%w: CONNACK with half its properties", errMalformed)
	}
	return g, eachProperty(body[2+size:2+size+n], func(id byte, value int, text []byte) {
		switch id {
		case propReceiveMaximum:
			g.receiveMaximum = max(1, value)
		case propMaximumPacket:
			g.maximumPacket = value
		case propMaximumQoS:
			g.maximumQoS = value
		case propAliasMaximum:
			g.aliases = value
		case propServerKeepAlive:
			g.keepAlive = value
		case propSessionExpiry:
			g.sessionExpiry = value
		case propRetain:
			g.retain = value != 0
		case propShared:
			g.shared = value != 0
		case propReason:
			g.text = string(text)
		}
	})
}

// eachProperty calls f with each property: with its value if it is a number,
// with its text if it is one.
func eachProperty(b []byte, f func(id byte, value int, text []byte)) error {
	short := fmt.Errorf("%w: half a property", errMalformed)
	for len(b) > 0 {
		id := b[0]
		b = b[1:]
		size, strings := 0, 0
		switch id {
		case 0x01, 0x17, 0x19, propMaximumQoS, propRetain, 0x28, 0x29, propShared:
			size = 1
		case propServerKeepAlive, propReceiveMaximum, propAliasMaximum, propAlias:
			size = 2
		case 0x02, propSessionExpiry, 0x18, propMaximumPacket:
			size = 4
		case 0x03, 0x08, 0x09, 0x12, 0x15, 0x16, 0x1A, 0x1C, propReason:
			strings = 1
		case 0x26: // a user's property: name and value
			strings = 2
		case 0x0B:
			n, used, err := length(b)
			if err != nil || used == 0 {
				return short
			}
			f(id, n, nil)
			b = b[used:]
			continue
		default:
			return fmt.Errorf("%w: property %#x", errMalformed, id)
		}
		if len(b) < size {
			return short
		}
		value := 0
		for _, c := range b[:size] {
			value = value<<8 | int(c)
		}
		b = b[size:]
		var text []byte
		for range strings {
			if len(b) < 2 {
				return short
			}
			n := 2 + int(binary.BigEndian.Uint16(b))
			if len(b) < n {
				return short
			}
			text, b = b[2:n], b[n:]
		}
		f(id, value, text)
	}
	return nil
}

// packetSize returns how many bytes the packet has that unread begins with, see
// kit.NewFrames.
func packetSize(unread []byte) (int, error) {
	if len(unread) < 2 {
		return 2, nil
	}
	n, size, err := length(unread[1:])
	if err != nil {
		return 0, err
	}
	if size == 0 {
		return len(unread) + 1, nil
	}
	return 1 + size + n, nil
}

// split returns a packet's first byte and what follows its length.
func split(packet []byte) (first byte, body []byte) {
	_, size, _ := length(packet[1:]) // see packetSize
	return packet[0], packet[1+size:]
}
