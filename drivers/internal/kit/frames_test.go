package kit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

var errTooLong = errors.New("too long")

// sized is the size of a frame that begins with its length in two bytes.
func sized(unread []byte) (int, error) {
	if len(unread) < 2 {
		return 2, nil
	}
	n := int(binary.BigEndian.Uint16(unread))
	if n > 60000 {
		return 0, errTooLong
	}
	return 2 + n, nil
}

// FuzzFrames: however bytes come, the same frames must come out.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x03abc\x00\x00\x00\x01d"))
	f.Add([]byte("\xff\xff"))
	f.Add(append([]byte{0x40, 0}, make([]byte, 1<<14+5)...))
	f.Fuzz(func(t *testing.T, stream []byte) {
		whole := joined(bytes.NewReader(stream))
		for name, source := range map[string]io.Reader{
			"one byte at a time": iotest.OneByteReader(bytes.NewReader(stream)),
			"half of them":       iotest.HalfReader(bytes.NewReader(stream)),
			"with the end":       iotest.DataErrReader(bytes.NewReader(stream)),
		} {
			if got := joined(source); !bytes.Equal(got, whole) {
				t.Errorf("%s: %q instead of %q", name, got, whole)
			}
		}
	})
}

// joined reads to the end and returns the frames one behind the other.
func joined(source io.Reader) (out []byte) {
	f := NewFrames(source, sized, nil)
	for {
		f.More()
		frame, err := f.Next()
		if err != nil {
			return out
		}
		out = append(append(out, frame...), '|')
	}
}

func TestFramesIdle(t *testing.T) {
	idle := 0
	f := NewFrames(bytes.NewReader([]byte("\x00\x01a\x00\x01b")), sized, func() error { idle++; return nil })
	for _, want := range []int{0, 0} {
		if _, err := f.Next(); err != nil || idle != want {
			t.Fatalf("%v, %d times idle", err, idle)
		}
	}
	if _, err := f.Next(); err != io.EOF || idle != 1 {
		t.Errorf("at the end: %v, %d times idle, want once", err, idle)
	}
	broken := errors.New("broken")
	f = NewFrames(bytes.NewReader([]byte("\x00\x01a")), sized, func() error { return broken })
	f.Next()
	if _, err := f.Next(); err != broken {
		t.Errorf("%v, want what went wrong while idle", err)
	}
}

func TestFramesRest(t *testing.T) {
	f := NewFrames(bytes.NewReader([]byte("\x00\x01a\x00\x01b")), sized, nil)
	f.Next()
	if rest := f.Rest(); string(rest) != "\x00\x01b" {
		t.Errorf("the rest is %q", rest)
	}
	if _, err := f.Next(); err != io.EOF {
		t.Errorf("after the rest: %v", err)
	}
}

func BenchmarkFrames(b *testing.B) {
	stream := bytes.Repeat(append([]byte{1, 0}, make([]byte, 256)...), 1000)
	b.ReportAllocs()
	b.SetBytes(258)
	source := bytes.NewReader(stream)
	f := NewFrames(source, sized, nil)
	for range b.N {
		if _, err := f.Next(); err != nil {
			source.Reset(stream)
		}
	}
}

// TestFramesClaims has a frame say that it is larger than what comes: no memory may be set
// aside for it before.
func TestFramesClaims(t *testing.T) {
	f := NewFrames(bytes.NewReader(make([]byte, 1000)), func([]byte) (int, error) { return 64 << 20, nil }, nil)
	if _, err := f.Next(); err != io.EOF || len(f.buf) > readMost {
		t.Errorf("%v, the buffer grew to %d bytes", err, len(f.buf))
	}
}
