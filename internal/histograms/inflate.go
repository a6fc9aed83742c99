package histograms

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Counts is a decoded histogram: the counters that are not zero. A result file has one for
// each metric of each interval, with tens of thousands of counters, few of them used.
type Counts struct {
	Digits          int64 // significant decimal digits, 0 to 5
	lowest, highest int64
	ratio           float64
	geometry        hdrGeometry
	index           []int   // of the counters, ascending
	count           []int64 // of each, above 0
}

// Decoder decodes the texts of histograms one after the other with one decompressor and one
// buffer. The next call of Decode overwrites the result. The zero value is ready. Not safe for
// concurrent use.
type Decoder struct {
	raw     []byte
	packed  bytes.Reader
	zip     io.ReadCloser // nil: not made yet
	payload bytes.Buffer
	counts  Counts
}

// Cookies of the encoding: the low byte is the format (3: a histogram, 4: a
// compressed one), the second nibble the word size, which V2 fixes at 1 and
// readers mask.
const (
	hdrCookieMask       = ^uint32(0xf0)
	hdrCookieV2         = uint32(hdrhistogram.V2EncodingCookieBase)
	hdrCookieCompressed = uint32(hdrhistogram.V2CompressedEncodingCookieBase)
	hdrHeaderSize       = hdrhistogram.ENCODING_HEADER_SIZE
)

// Decode reads one text. It is fit for hostile input, as the function [Decode] is, and has the
// same errors.
func (z *Decoder) Decode(s string) (*Counts, error) {
	if len(s) > hdrMaxEncoded {
		return nil, fmt.Errorf("decode histogram: %d bytes of text, at most %d are accepted", len(s), hdrMaxEncoded)
	}
	if err := z.inflate(s); err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	return &z.counts, nil
}

func (z *Decoder) inflate(s string) error {
	var err error
	if z.raw, err = base64.StdEncoding.AppendDecode(z.raw[:0], []byte(s)); err != nil {
		return fmt.Errorf("base64: %w", err)
	}
	if len(z.raw) < 8 {
		return fmt.Errorf("base64 header: %w", io.ErrUnexpectedEOF)
	}
	if c := binary.BigEndian.Uint32(z.raw); c&hdrCookieMask != hdrCookieCompressed {
		return fmt.Errorf("cookie %#x is not that of a V2 compressed histogram", c)
	}
	packed := z.raw[8:]
	length := int64(int32(binary.BigEndian.Uint32(z.raw[4:])))
	if length < 0 {
		return fmt.Errorf("a compressed part of %d bytes", length)
	}
	if length > int64(len(packed)) {
		return fmt.Errorf("compressed part: %w", io.ErrUnexpectedEOF)
	}
	z.packed.Reset(packed[:length])
	if z.zip == nil {
		z.zip, err = zlib.NewReader(&z.packed)
	} else {
		err = z.zip.(zlib.Resetter).Reset(&z.packed, nil)
	}
	if err != nil {
		return fmt.Errorf("compressed part: %w", hdrTruncated(err))
	}
	var head [hdrHeaderSize]byte
	if _, err := io.ReadFull(z.zip, head[:]); err != nil {
		return fmt.Errorf("histogram header: %w", hdrTruncated(err))
	}
	size, err := z.counts.header(head[:])
	if err != nil {
		return err
	}
	// Reading one byte more detects excess data, and reading to the end verifies the checksum.
	z.payload.Reset()
	if _, err := z.payload.ReadFrom(io.LimitReader(z.zip, size+1)); err != nil {
		return fmt.Errorf("histogram: %w", hdrTruncated(err))
	}
	if n := int64(z.payload.Len()); n != size {
		return fmt.Errorf("a payload of %d bytes or more, and %d are announced", n, size)
	}
	return z.counts.fill(z.payload.Bytes())
}

// header parses a histogram's header and returns the length of the payload in bytes.
func (c *Counts) header(b []byte) (size int64, err error) {
	if c := binary.BigEndian.Uint32(b); c&hdrCookieMask != hdrCookieV2 {
		return 0, fmt.Errorf("inner cookie %#x is not that of a V2 histogram", c)
	}
	size = int64(int32(binary.BigEndian.Uint32(b[4:])))
	c.Digits = int64(int32(binary.BigEndian.Uint32(b[12:])))
	c.lowest = max(int64(binary.BigEndian.Uint64(b[16:])), 1)
	c.highest = int64(binary.BigEndian.Uint64(b[24:]))
	c.ratio = math.Float64frombits(binary.BigEndian.Uint64(b[32:]))
	if c.geometry, err = hdrNewGeometry(c.lowest, c.highest, c.Digits); err != nil {
		return 0, err
	}
	n := c.geometry.counts()
	if n > hdrMaxCounts {
		return 0, fmt.Errorf("range %d to %d with %d significant digits takes %d counters, at most %d are accepted",
			c.lowest, c.highest, c.Digits, n, hdrMaxCounts)
	}
	if size < 0 || size > n*hdrLongest {
		return 0, fmt.Errorf("a payload of %d bytes for %d counters", size, n)
	}
	return size, nil
}

// hdrLongest is the largest number of bytes of an encoded number.
const hdrLongest = 9

// fill parses the counts of a payload.
func (c *Counts) fill(p []byte) error {
	c.index, c.count = c.index[:0], c.count[:0]
	all := c.geometry.counts()
	var at, total int64
	for len(p) > 0 {
		n, size := hdrNumber(p)
		if size == 0 {
			return errors.New("a number is cut off")
		}
		p = p[size:]
		if n < 0 { // a run of −n zero counters
			if n == math.MinInt64 || -n > all-at {
				return fmt.Errorf("a run of %d zeros at index %d of %d", -n, at, all)
			}
			at -= n
			continue
		}
		if at >= all {
			return fmt.Errorf("a count at index %d of %d", at, all)
		}
		if n > math.MaxInt64-total {
			return fmt.Errorf("the counts sum up to more than MaxInt64 at index %d", at)
		}
		if n > 0 {
			total += n
			c.index, c.count = append(c.index, int(at)), append(c.count, n)
		}
		at++
	}
	return nil
}

// hdrNumber reads a ZigZag LEB128 number whose ninth byte has eight bits, and returns how
// many bytes it takes, 0 if it is cut off.
func hdrNumber(p []byte) (n int64, size int) {
	var u uint64
	for i := range min(len(p), hdrLongest) {
		b := uint64(p[i])
		if i == hdrLongest-1 || b < 0x80 {
			u |= b << (7 * i)
			return int64(u>>1) ^ -int64(u&1), i + 1
		}
		u |= b & 0x7f << (7 * i)
	}
	return 0, 0
}

// histogram returns the counts as a histogram of the library, which shares no memory with c.
func (c *Counts) histogram() *hdrhistogram.Histogram {
	s := &hdrhistogram.Snapshot{LowestTrackableValue: c.lowest, HighestTrackableValue: c.highest, SignificantFigures: c.Digits,
		IntegerToDoubleConversionRatio: c.ratio, Counts: make([]int64, c.geometry.counts())}
	for i, at := range c.index {
		s.Counts[at] = c.count[i]
	}
	return hdrhistogram.Import(s)
}

// MergeInto adds the counts to *into. If that is nil it makes a histogram; else it must have
// the same geometry (see Fits).
func (c *Counts) MergeInto(into **hdrhistogram.Histogram) error {
	if *into == nil {
		*into = c.histogram()
		return nil
	}
	for i, at := range c.index {
		low, _ := c.geometry.edges(at)
		if err := (*into).RecordValues(low, c.count[i]); err != nil {
			return err
		}
	}
	return nil
}

// Ranks returns the index of the values; it shares no memory with c.
func (c *Counts) Ranks() *RankIndex {
	x := newRankIndex(len(c.index))
	for i, at := range c.index {
		x.add(c.geometry, at, c.count[i])
	}
	return x
}

// hdrTruncated turns io.EOF into io.ErrUnexpectedEOF: here the input is cut off.
func hdrTruncated(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
