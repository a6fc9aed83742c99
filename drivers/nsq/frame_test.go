package nsq

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

func frame(kind uint32, data string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(data)))
	return append(binary.BigEndian.AppendUint32(b, kind), data...)
}

func FuzzFrames(f *testing.F) {
	f.Add(append(frame(0, okay), frame(1, "E_BAD_TOPIC no")...))
	f.Add(frame(2, "12345678\x00\x010123456789abcdefbody"))
	f.Add(frame(2, "short"))
	f.Add([]byte("\xff\xff\xff\xff????"))
	f.Add(frame(0, string(make([]byte, 9000))))
	f.Fuzz(func(t *testing.T, stream []byte) {
		// However the bytes come, the same frames must come out.
		whole := all(bytes.NewReader(stream))
		for name, src := range map[string]io.Reader{
			"one byte at a time": iotest.OneByteReader(bytes.NewReader(stream)),
			"with the end":       iotest.DataErrReader(bytes.NewReader(stream)),
		} {
			if got := all(src); !bytes.Equal(got, whole) {
				t.Errorf("%s: %q instead of %q", name, got, whole)
			}
		}
	})
}

// all reads to the end and returns the frames one behind the other.
func all(src io.Reader) (out []byte) {
	c := &stream{in: kit.NewFrames(src, frameSize, nil)}
	for {
		kind, data, err := c.next()
		if err != nil {
			return out
		}
		out = append(append(out, byte(kind)), data...)
		if m, err := parseMessage(data); err == nil && len(m.id)+len(m.body)+10 != len(data) {
			panic("more or less came out than went in")
		}
	}
}

func TestRefusals(t *testing.T) {
	for text, class := range map[string]error{
		"E_BAD_MESSAGE PUB message too big 9 > 1":              driver.ErrTooLarge,
		"E_BAD_MESSAGE PUB invalid message body size 0":        driver.ErrRejected,
		"E_BAD_TOPIC SUB topic name \"\" is not valid":         driver.ErrNoTopic,
		"E_UNAUTHORIZED AUTH failed for PUB":                   driver.ErrUnauthorized,
		"E_AUTH_FAILED AUTH failed":                            driver.ErrUnauthorized,
		"E_INVALID cannot SUB in current state (TLS required)": driver.ErrNotConnected,
	} {
		if got := driver.Class(refusal(text)); got != class {
			t.Errorf("%q is of class %v instead of %v", text, got, class)
		}
	}
}
