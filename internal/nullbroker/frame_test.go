package nullbroker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestFramesAreReadAsWritten(t *testing.T) {
	long := strings.Repeat("x", MaxName)
	for name, tt := range map[string]struct {
		text []byte
		want Frame
	}{
		"hello":       {appendHello(nil), Frame{Op: OpHello}},
		"topic":       {AppendTopic(nil, 1, 2, "a"), Frame{Op: OpTopic, Number: 1, Second: 2, Name: []byte("a")}},
		"subscribe":   {AppendSubscribe(nil, 1, 2, "", long), Frame{Op: OpSubscribe, Number: 1, Second: 2, Group: []byte{}, Name: []byte(long)}},
		"group":       {AppendSubscribe(nil, 1, 2, long, "a"), Frame{Op: OpSubscribe, Number: 1, Second: 2, Group: []byte(long), Name: []byte("a")}},
		"unsubscribe": {AppendUnsubscribe(nil, 1, 2), Frame{Op: OpUnsubscribe, Number: 1, Second: 2}},
		"ping":        {AppendPing(nil, 1<<32-1), Frame{Op: OpPing, Number: 1<<32 - 1}},
		"publish": {AppendPublish(nil, 3, "r", []byte("pay")), Frame{Op: OpPublish, Number: 3, Name: []byte("r"),
			Payload: []byte("pay"), Tail: []byte("\x01\x00rpay")}},
		"confirmed": {AppendConfirmed(nil, 3, 4, "", nil), Frame{Op: OpConfirmed, Number: 3, Second: 4, Name: []byte{},
			Payload: []byte{}, Tail: []byte("\x00\x00")}},
		"message": {appendMessage(nil, 5, []byte("\x01\x00rpay")), Frame{Op: OpMessage, Number: 5, Name: []byte("r"),
			Payload: []byte("pay"), Tail: []byte("\x01\x00rpay")}},
		"welcome": {appendWelcome(nil, Welcome{7, 8, "none", ""}), Frame{Op: OpWelcome, Welcome: Welcome{7, 8, "none", ""}}},
		"server":  {appendWelcome(nil, Welcome{7, 8, "none", "1ms"}), Frame{Op: OpWelcome, Welcome: Welcome{7, 8, "none", "1ms"}}},
	} {
		for cut := range tt.text { // no part of it is enough
			if _, n, need, err := Decode(tt.text[:cut]); n != 0 || err != nil || need <= cut {
				t.Errorf("%s: of %d bytes %d: %d, wants %d, %v", name, len(tt.text), cut, n, need, err)
			}
		}
		got, n, _, err := Decode(append(bytes.Clone(tt.text), "more"...))
		if err != nil || n != len(tt.text) || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %d of %d bytes, %+v, %v", name, n, len(tt.text), got, err)
		}
	}
}

// What is refused is so by its first bytes: nothing is allocated for it.
func TestHostileFrames(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                  "\x00\x00\x00\x00",
		"longer than any":          "\xff\xff\xff\xff",
		"a web browser":            "GET / HTTP/1.1\r\n\r\n",
		"unknown":                  "\x01\x00\x00\x00?",
		"short ping":               "\x04\x00\x00\x00Gabc",
		"long ping":                "\x06\x00\x00\x00Gabcde",
		"topic without a name":     "\x09\x00\x00\x00Tabcdefgh",
		"topic of a long name":     "\x09\x01\x00\x00Tabcdefgh" + strings.Repeat("x", 256),
		"group beyond the frame":   "\x0c\x00\x00\x00Sabcdefgh\x02\x00t",
		"group and no topic":       "\x0c\x00\x00\x00Sabcdefgh\x01\x00t",
		"reply beyond the frame":   "\x09\x00\x00\x00Pabcd\x03\x00xy",
		"reply without its length": "\x06\x00\x00\x00Pabcd\x03",
		"long reply":               "\x07\x01\x00\x00Pabcd\x00\x01" + strings.Repeat("x", 256),
		"hello of another":         "\x06\x00\x00\x00HNULX\x01",
		"hello of another version": "\x06\x00\x00\x00HNULL\x02",
		"short welcome":            "\x05\x00\x00\x00Wabcd",
	} {
		if _, _, _, err := Decode([]byte(text)); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
	tooLarge := begin(nil, OpPublish, 2+MaxPayload+1, 0)
	tooLarge = append(tooLarge, make([]byte, 2+MaxPayload+1)...)
	if _, _, _, err := Decode(tooLarge); !errors.Is(err, ErrProtocol) {
		t.Errorf("a payload above the limit: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, b := range [][]byte{appendHello(nil), AppendTopic(nil, 1, 2, "a"), AppendSubscribe(nil, 1, 2, "g", "t"), AppendPing(nil, 1),
		AppendPublish(nil, 3, "r", []byte("pay")), AppendConfirmed(nil, 3, 4, "", nil), appendWelcome(nil, Welcome{7, 8, "none", ""})} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fr, n, need, err := Decode(b)
		switch {
		case err != nil:
			if n != 0 || !errors.Is(err, ErrProtocol) {
				t.Fatalf("%d, %v", n, err)
			}
		case n == 0:
			if need <= len(b) || need > lengthSize+maxFrame {
				t.Fatalf("%d bytes are there, %d are wanted", len(b), need)
			}
		case n > len(b) || n != lengthSize+int(binary.LittleEndian.Uint32(b)):
			t.Fatalf("%d of %d bytes", n, len(b))
		case len(fr.Payload) > n || len(fr.Name) > MaxName || len(fr.Group) > MaxName:
			t.Fatalf("%+v", fr)
		}
	})
}
