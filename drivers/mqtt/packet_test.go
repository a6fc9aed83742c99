package mqtt

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

func FuzzPackets(f *testing.F) {
	f.Add(appendConnect(nil, login{v5: true, clean: true, id: "id", user: "ada", password: "lovelace", sessionExpiry: 7, receiveMaximum: 9}), true)
	f.Add(appendSubscribe(nil, true, 1, 2, []string{"a", "$share/g/a"}, false), true)
	f.Add(appendPublish(nil, publication{v5: true, flags: 1<<1 | flagRetain, topic: "topic", alias: 3, id: 9, user: userProperties([]driver.Header{{Name: "a", Value: "b"}})}, []byte("payload")), true)
	f.Add(appendPublish(nil, publication{topic: "topic"}, make([]byte, 300)), false)
	f.Add([]byte("\x20\x09\x00\x00\x06\x27\x00\x10\x00\x00\x2a\x00"), true)
	f.Add([]byte("\x90\x04\x00\x01\x00\x02"), true)
	f.Add([]byte("\x40\x04\x00\x01\x95\x00\xE0\x01\x8E"), true)
	f.Fuzz(func(t *testing.T, stream []byte, v5 bool) {
		// However the bytes come, the same packets must come out.
		whole := all(bytes.NewReader(stream), v5)
		for name, src := range map[string]io.Reader{
			"one byte at a time": iotest.OneByteReader(bytes.NewReader(stream)),
			"with the end":       iotest.DataErrReader(bytes.NewReader(stream)),
		} {
			if got := all(src, v5); !bytes.Equal(got, whole) {
				t.Errorf("%s: %q instead of %q", name, got, whole)
			}
		}
	})
}

// all reads to the end, takes everything apart that it knows and returns the
// packets one behind the other.
func all(src io.Reader, v5 bool) (packets []byte) {
	in := kit.NewFrames(src, packetSize, nil)
	for {
		packet, err := in.Next()
		if err != nil {
			return packets
		}
		first, body := split(packet)
		packets = append(append(packets, first), body...)
		switch first & typeMask {
		case typePublish:
			if m, err := parsePublish(v5, first, body); err == nil && len(m.topic)+len(m.payload) > len(body) {
				panic("more came out than went in")
			}
		case typeConnack:
			parseConnack(v5, body)
		case typeSuback:
			parseSuback(v5, body)
		case typePuback, typePubrec, typePubcomp:
			parseAck(body)
		}
	}
}

// What is written can be read, of every size at which lengths get longer.
func TestPublishComesBack(t *testing.T) {
	for _, v5 := range []bool{false, true} {
		for _, size := range []int{0, 1, 120, 127, 128, 16_370, 16_384, 2_097_150} {
			for i := range 6 {
				qos := byte(i % 3)
				payload := bytes.Repeat([]byte{'x'}, size)
				out := publication{v5: v5, flags: qos << 1, topic: "topic", id: 513}
				if v5 && i >= 3 {
					out.user = userProperties([]driver.Header{{Name: "a", Value: strings.Repeat("b", 200)}, {Name: "c", Value: "d"}})
				}
				packet := appendPublish(nil, out, payload)
				if n := out.size(size); len(packet) > n+5 || len(packet) < n+2 || len(packet) > headMost+len("topic")+len(out.user)+size {
					t.Errorf("a packet of %d bytes is said to have %d", len(packet), n)
				}
				if size, err := packetSize(packet); err != nil || size != len(packet) {
					t.Errorf("a packet of %d bytes is said to have %d, %v", len(packet), size, err)
				}
				first, body := split(packet)
				m, err := parsePublish(v5, first, body)
				if err != nil || m.qos != qos || string(m.topic) != "topic" || !bytes.Equal(m.payload, payload) || qos > 0 && m.id != 513 {
					t.Errorf("version 5 %v, quality %d, %d bytes: got %v, %d bytes, number %d, %v", v5, qos, size, m.qos, len(m.payload), m.id, err)
				}
			}
		}
	}
}

func TestGreeting(t *testing.T) {
	body := []byte("\x01\x00\x16\x21\x00\x14\x27\x00\x01\x00\x00\x24\x01\x22\x00\x0a\x25\x00\x2a\x00\x13\x00\x3c")
	body[2] = byte(len(body) - 3)
	g, err := parseConnack(true, body)
	want := greeting{present: true, receiveMaximum: 20, maximumPacket: 65536, maximumQoS: 1, aliases: 10, keepAlive: 60, sessionExpiry: -1}
	if err != nil || g != want {
		t.Errorf("got %+v, %v", g, err)
	}
	if _, err := parseConnack(true, body[:len(body)-1]); !errors.Is(err, errMalformed) {
		t.Errorf("a greeting cut short: %v", err)
	}
}

func TestUnwritten(t *testing.T) {
	var batch []byte
	for qos := range byte(2) {
		for range 3 {
			batch = appendPublish(batch, publication{v5: true, flags: qos << 1, topic: "t", id: 1}, make([]byte, 200))
		}
	}
	one := len(appendPublish(nil, publication{v5: true, topic: "t", id: 1}, make([]byte, 200)))
	for written, want := range map[int]int{0: 3, one - 1: 3, one: 2, 3 * one: 0, len(batch): 0} {
		if n := unwritten(batch, written); n != want {
			t.Errorf("with %d bytes written %d messages are lost, not %d", written, n, want)
		}
	}
}
