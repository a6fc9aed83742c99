package histograms

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Encoder writes histograms one after the other in HdrHistogram's V2 compressed encoding, as
// base64 text. It keeps its compressor and its buffers: the library's own encoder allocates
// a compressor of 800 kB for each histogram, garbage that would cause collections during a
// measurement. The order of calls is Begin, Count and Zeros for all counters, Append. The
// zero value is ready. Not safe for concurrent use.
type Encoder struct {
	payload []byte
	zeros   int64   // zero counters not written yet
	head    [8]byte // always zero: the place of cookie and length in packed
	packed  bytes.Buffer
	zip     *zlib.Writer // nil: not made yet
}

const (
	cookieV2           = hdrCookieV2 | 0x10
	cookieV2Compressed = hdrCookieCompressed | 0x10
)

// Begin begins a histogram of values from lowest to highest with the given number of
// significant decimal digits (0 to 5).
func (e *Encoder) Begin(lowest, highest, digits int64) {
	p := binary.BigEndian.AppendUint32(e.payload[:0], cookieV2)
	p = binary.BigEndian.AppendUint32(p, 0) // length, below
	p = binary.BigEndian.AppendUint32(p, 0) // normalising index offset
	p = binary.BigEndian.AppendUint32(p, uint32(digits))
	p = binary.BigEndian.AppendUint64(p, uint64(lowest))
	p = binary.BigEndian.AppendUint64(p, uint64(highest))
	e.payload, e.zeros = binary.BigEndian.AppendUint64(p, math.Float64bits(1)), 0
}

// Count adds the next counter.
func (e *Encoder) Count(n int64) {
	if n == 0 {
		e.zeros++
		return
	}
	e.put(n)
}

// Zeros adds the next n counters, which are zero.
func (e *Encoder) Zeros(n int64) { e.zeros += n }

func (e *Encoder) put(n int64) {
	if e.zeros == 1 {
		e.payload = binary.AppendVarint(e.payload, 0)
	} else if e.zeros > 1 {
		e.payload = binary.AppendVarint(e.payload, -e.zeros)
	}
	e.zeros = 0
	// encoding/binary's signed varint is ZigZag LEB128, which is HdrHistogram's for every
	// count below 2^55.
	e.payload = binary.AppendVarint(e.payload, n)
}

// Append ends the histogram and appends its text to to. It leaves zero counters at the end
// out. An error is the compressor's; to is then returned unchanged.
func (e *Encoder) Append(to []byte) ([]byte, error) {
	binary.BigEndian.PutUint32(e.payload[4:], uint32(len(e.payload)-hdrHeaderSize))
	e.packed.Reset()
	e.packed.Write(e.head[:]) // the cookie and the length, below
	if e.zip == nil {
		// The best compression takes 0.3 ms more, ten times a second for each metric, and
		// saves only a small part of the file.
		var err error
		if e.zip, err = zlib.NewWriterLevel(&e.packed, zlib.BestSpeed); err != nil {
			return to, err
		}
	} else {
		e.zip.Reset(&e.packed)
	}
	if _, err := e.zip.Write(e.payload); err != nil {
		return to, err
	}
	if err := e.zip.Close(); err != nil {
		return to, err
	}
	b := e.packed.Bytes()
	binary.BigEndian.PutUint32(b[0:], cookieV2Compressed)
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-8))
	return base64.StdEncoding.AppendEncode(to, b), nil
}

// Encode returns the text of a histogram, which begins "HISTF". Below the compression it is
// byte for byte what Java writes. The compressed bytes depend on the deflate implementation and
// differ even between Java installations. The text has no start time, end time or tag.
func (e *Encoder) Encode(h *hdrhistogram.Histogram) (string, error) {
	e.Begin(h.LowestTrackableValue(), h.HighestTrackableValue(), h.SignificantFigures())
	for _, n := range h.Export().Counts {
		e.Count(n)
	}
	if len(e.payload) == hdrHeaderSize {
		e.payload = append(e.payload, 0) // Java writes the first counter of an empty one, too
	}
	text, err := e.Append(nil)
	if err != nil {
		return "", fmt.Errorf("encode histogram: %w", err)
	}
	return string(text), nil
}

// Encode is [Encoder.Encode] of one histogram.
func Encode(h *hdrhistogram.Histogram) (string, error) { return new(Encoder).Encode(h) }
