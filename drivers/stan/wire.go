package stan

import "encoding/binary"

// The messages that are made and read for each payload, in the protocol's own
// encoding (Protocol Buffers, messages PubMsg, PubAck, MsgProto and Ack of
// stan.go/pb). The generated code would allocate their strings and copies.

// The tags of fields: number<<3 | wire type.
const (
	tagPubClientID = 1<<3 | 2
	tagPubGUID     = 2<<3 | 2
	tagPubSubject  = 3<<3 | 2
	tagPubData     = 5<<3 | 2
	tagPubConnID   = 6<<3 | 2

	tagPubAckGUID  = 1<<3 | 2
	tagPubAckError = 2<<3 | 2

	tagMsgSequence    = 1 << 3
	tagMsgData        = 4<<3 | 2
	tagMsgRedelivered = 6 << 3

	tagAckSubject  = 1<<3 | 2
	tagAckSequence = 2 << 3
)

// appendField appends a field of bytes.
func appendField[S string | []byte](b []byte, tag byte, value S) []byte {
	b = append(b, tag)
	b = binary.AppendUvarint(b, uint64(len(value)))
	return append(b, value...)
}

// appendPubHead appends the fields of a PubMsg that are alike in all messages of
// a producer.
func appendPubHead(b []byte, clientID, channel string, connID []byte) []byte {
	b = appendField(b, tagPubClientID, clientID)
	b = appendField(b, tagPubSubject, channel)
	return appendField(b, tagPubConnID, connID)
}

// appendPubMsg appends a PubMsg that begins with head, but for its guid.
func appendPubMsg(b, head, payload []byte) []byte {
	return appendField(append(b, head...), tagPubData, payload)
}

// appendPubGUID completes a PubMsg.
func appendPubGUID(b []byte, id guid) []byte {
	return id.appendTo(append(b, tagPubGUID, guidSize))
}

// pubOverhead is how many bytes of a PubMsg are not payload, at most.
func pubOverhead(clientID, channel string, connID []byte) int {
	const field = 1 + binary.MaxVarintLen32
	return len(appendPubHead(nil, clientID, channel, connID)) + 2 + guidSize + field
}

// appendAck appends an Ack whose subject field is head.
func appendAck(b, head []byte, sequence uint64) []byte {
	b = append(b, head...)
	return binary.AppendUvarint(append(b, tagAckSequence), sequence)
}

// next reads the field at the beginning of b: its tag, its number or bytes, and
// what follows. It fails on what is no message.
func next(b []byte) (tag uint64, number uint64, value, rest []byte, ok bool) {
	tag, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, 0, nil, nil, false
	}
	b = b[n:]
	switch tag & 7 {
	case 0:
		if number, n = binary.Uvarint(b); n <= 0 {
			return 0, 0, nil, nil, false
		}
		return tag, number, nil, b[n:], true
	case 1, 5:
		width := 8
		if tag&7 == 5 {
			width = 4
		}
		if len(b) < width {
			return 0, 0, nil, nil, false
		}
		return tag, 0, b[:width], b[width:], true
	case 2:
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return 0, 0, nil, nil, false
		}
		return tag, 0, b[n : n+int(size)], b[n+int(size):], true
	}
	return 0, 0, nil, nil, false
}

// parsePubAck reads a PubAck. The results point into b.
func parsePubAck(b []byte) (id, refused []byte, ok bool) {
	for len(b) > 0 {
		tag, _, value, rest, ok := next(b)
		if !ok {
			return nil, nil, false
		}
		switch tag {
		case tagPubAckGUID:
			id = value
		case tagPubAckError:
			refused = value
		}
		b = rest
	}
	return id, refused, true
}

// delivery is a MsgProto, as far as it is of interest.
type delivery struct {
	sequence    uint64
	payload     []byte // points into what was parsed
	redelivered bool
}

func parseDelivery(b []byte) (d delivery, ok bool) {
	for len(b) > 0 {
		tag, number, value, rest, ok := next(b)
		if !ok {
			return delivery{}, false
		}
		switch tag {
		case tagMsgSequence:
			d.sequence = number
		case tagMsgData:
			d.payload = value
		case tagMsgRedelivered:
			d.redelivered = number != 0
		}
		b = rest
	}
	return d, d.sequence > 0 // sequences begin with 1
}
