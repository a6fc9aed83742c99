package recorder

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
)

// encoder writes HdrHistogram's V2 compressed payload in base64 from a slice of
// counts. The library's own encoder makes a compressor of 800 kB per call; once
// a second for every metric that is garbage for the collector to run into in
// the middle of a measurement, so this one keeps its compressor and buffers.
type encoder struct {
	payload []byte
	head    [8]byte // zeros
	packed  bytes.Buffer
	zip     *zlib.Writer
}

const (
	cookieV2           = 0x1c849303 | 0x10
	cookieV2Compressed = 0x1c849304 | 0x10
)

// encode appends the histogram with the given counts, of layout g, to to. in has
// the blocks of counts that are not all zero; nil: any may be.
func (e *encoder) encode(to []byte, g *geometry, counts []int64, in blocks) ([]byte, error) {
	p := e.payload[:0]
	p = binary.BigEndian.AppendUint32(p, cookieV2)
	p = binary.BigEndian.AppendUint32(p, 0) // length, below
	p = binary.BigEndian.AppendUint32(p, 0) // normalising index offset
	p = binary.BigEndian.AppendUint32(p, uint32(g.digits))
	p = binary.BigEndian.AppendUint64(p, 1)
	p = binary.BigEndian.AppendUint64(p, uint64(g.highest))
	p = binary.BigEndian.AppendUint64(p, math.Float64bits(1))
	head := len(p)
	var zeros int64
	for i := 0; i < len(counts); i++ {
		if in != nil && i%block == 0 {
			next := in.next(i, len(counts))
			zeros += int64(next - i)
			if i = next; i == len(counts) {
				break
			}
		}
		n := counts[i]
		if n == 0 {
			zeros++
			continue
		}
		if zeros == 1 {
			p = binary.AppendVarint(p, 0)
		} else if zeros > 1 {
			p = binary.AppendVarint(p, -zeros)
		}
		zeros = 0
		// encoding/binary's signed varint is ZigZag LEB128, which is
		// HdrHistogram's for every count below 2^55.
		p = binary.AppendVarint(p, n)
	}
	binary.BigEndian.PutUint32(p[4:], uint32(len(p)-head))
	e.payload = p

	e.packed.Reset()
	e.packed.Write(e.head[:]) // the cookie and the length, below
	if e.zip == nil {
		// Compressed thoroughly it would take 0.3 ms more, ten times a second and for
		// each metric, to save a small part of the file.
		var err error
		if e.zip, err = zlib.NewWriterLevel(&e.packed, zlib.BestSpeed); err != nil {
			return to, err
		}
	} else {
		e.zip.Reset(&e.packed)
	}
	if _, err := e.zip.Write(p); err != nil {
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
