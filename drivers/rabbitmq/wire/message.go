package wire

import "encoding/binary"

// The flags of properties, in the order in which their values follow.
const (
	flagContentType     = 1 << 15
	flagContentEncoding = 1 << 14
	flagHeaders         = 1 << 13
	flagDeliveryMode    = 1 << 12
	flagPriority        = 1 << 11
	flagCorrelationID   = 1 << 10
	flagReplyTo         = 1 << 9
)

// Properties are a received message's, as they lie in its header's frame. They
// are valid as long as the message.
type Properties []byte

// Header returns the value of a message's header, nil if it has none.
func (p Properties) Header(name string) any {
	c := newCursor(p)
	flags := c.Uint16()
	if flags&flagContentType != 0 {
		c.short()
	}
	if flags&flagContentEncoding != 0 {
		c.short()
	}
	if flags&flagHeaders == 0 {
		return nil
	}
	in := newCursor(c.long())
	for len(in.Rest) > 0 && !in.Bad {
		here := string(in.short()) == name // the conversion in a comparison does not allocate
		if v := in.value(1); here && !in.Bad {
			return v
		}
	}
	return nil
}

// ReplyTo returns where an answer is awaited; empty: nowhere.
func (p Properties) ReplyTo() []byte {
	c := newCursor(p)
	flags := c.Uint16()
	if flags&flagContentType != 0 {
		c.short()
	}
	if flags&flagContentEncoding != 0 {
		c.short()
	}
	if flags&flagHeaders != 0 {
		c.long()
	}
	if flags&flagDeliveryMode != 0 {
		c.Octet()
	}
	if flags&flagPriority != 0 {
		c.Octet()
	}
	if flags&flagCorrelationID != 0 {
		c.short()
	}
	if flags&flagReplyTo == 0 {
		return nil
	}
	return c.short()
}

// Envelope is all of a message but its body.
type Envelope struct {
	Exchange, Key string
	Mandatory     bool
	Immediate     bool // brokers since RabbitMQ 3.0 refuse it
	Persistent    bool
	Headers       Table  // nil: none
	ReplyTo       string // empty: no answer is awaited
}

// Prepared is an envelope made ready for a channel: the method's frame and the
// header's, in which only the body's size is missing.
type Prepared struct {
	Envelope Envelope
	head     []byte
	sizeAt   int
}

// prepare reuses the memory of into.
func (e Envelope) prepare(into []byte, channel uint16) Prepared {
	b := appendMethod(into[:0], channel, basicPublish)
	b = append(b, 0, 0) // reserved
	b = appendShort(appendShort(b, e.Exchange), e.Key)
	var bits byte
	if e.Mandatory {
		bits = 1
	}
	if e.Immediate {
		bits |= 2
	}
	b = endFrame(append(b, bits), 0)
	start := len(b)
	b = append(b, frameHeader, byte(channel>>8), byte(channel), 0, 0, 0, 0, 0, 60, 0, 0)
	sizeAt := len(b)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	flags, mode := uint16(flagDeliveryMode), byte(1)
	if e.Persistent {
		mode = 2
	}
	if e.Headers != nil {
		flags |= flagHeaders
	}
	if e.ReplyTo != "" {
		flags |= flagReplyTo
	}
	b = binary.BigEndian.AppendUint16(b, flags)
	if e.Headers != nil {
		b = appendTable(b, e.Headers)
	}
	b = append(b, mode)
	if e.ReplyTo != "" {
		b = appendShort(b, e.ReplyTo)
	}
	return Prepared{Envelope: e, head: endFrame(b, start), sizeAt: sizeAt}
}

// appendTo appends the frames that publish body, whose largest is frameMax.
func (e *Prepared) appendTo(b []byte, channel uint16, body []byte, frameMax int) []byte {
	start := len(b)
	b = append(b, e.head...)
	binary.BigEndian.PutUint64(b[start+e.sizeAt:], uint64(len(body)))
	for len(body) > 0 {
		n := min(len(body), frameMax-frameOverhead)
		b = append(b, frameBody, byte(channel>>8), byte(channel), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		b = append(b, body[:n]...)
		b = append(b, frameEnd)
		body = body[n:]
	}
	return b
}

// unwritten counts the messages among whole frames that do not end within the
// first bytes of them.
func unwritten(frames []byte, written int) (n int) {
	open := false // a message that is not complete as far as we have come
	for at := 0; at+frameOverhead <= len(frames); {
		end := at + frameOverhead + int(binary.BigEndian.Uint32(frames[at+3:]))
		if frames[at] == frameMethod {
			open = method(binary.BigEndian.Uint32(frames[at+7:])) == basicPublish
			if open {
				n++
			}
		}
		// A message that all of its frames were written of is out: its last frame
		// is the one before the next method, or the last of all.
		last := end >= len(frames) || frames[end] == frameMethod
		if open && last && end <= written {
			n--
		}
		at = end
	}
	return n
}

// Received returns properties with the headers and reply address of a message
// that another client has taken apart.
func Received(headers map[string]any, replyTo string) Properties {
	if len(headers) == 0 && replyTo == "" {
		return nil
	}
	p := binary.BigEndian.AppendUint16(nil, flagHeaders|flagReplyTo)
	return appendShort(appendTable(p, headers), replyTo)
}
