package result

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// RawVersion is the version of the raw file's format.
const RawVersion = 1

// RawHeaderSize is the length of a [RawHeader] in bytes.
const RawHeaderSize = 64

const rawMagic = "SIXNINES"

// RawHeader is the beginning of a raw file: 64 bytes, little-endian,
//
//	0 "SIXNINES" · 8 u32 version · 12 u32 row size · 16 run id, 16 ASCII characters
//	32 i64 base · 40 u64 dropped · 48 u8 closed · 60 u32 CRC-32C over bytes 0–59
type RawHeader struct {
	Run string // Header.ID of the result; at most 16 characters
	// Base is the start of the measured window on the run's clock, ns. The rows'
	// instants count from it.
	Base int64
	// Dropped counts rows for which the file had no room. Closed says that the
	// writer has written Dropped; it is false in the file of a killed run.
	Dropped int64
	Closed  bool
}

// MarshalBinary encodes the header. Its error is that Run is too long.
func (h RawHeader) MarshalBinary() ([]byte, error) {
	if len(h.Run) > 16 {
		return nil, fmt.Errorf("run id %q has more than 16 characters", h.Run)
	}
	b := make([]byte, RawHeaderSize)
	copy(b, rawMagic)
	binary.LittleEndian.PutUint32(b[8:], RawVersion)
	binary.LittleEndian.PutUint32(b[12:], RawRowSize)
	copy(b[16:32], h.Run)
	binary.LittleEndian.PutUint64(b[32:], uint64(h.Base))
	binary.LittleEndian.PutUint64(b[40:], uint64(h.Dropped))
	if h.Closed {
		b[48] = 1
	}
	binary.LittleEndian.PutUint32(b[60:], rawSum(b))
	return b, nil
}

func decodeRawHeader(b []byte) (RawHeader, error) {
	if string(b[:8]) != rawMagic {
		return RawHeader{}, fmt.Errorf("it does not begin like a raw file of sixnines: %w", ErrFormat)
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != RawVersion {
		return RawHeader{}, fmt.Errorf("the raw file has version %d, this sixnines reads version %d, use the one that wrote it: %w", v, RawVersion, ErrFormat)
	}
	if n := binary.LittleEndian.Uint32(b[12:]); n != RawRowSize {
		return RawHeader{}, fmt.Errorf("its rows have %d bytes, not %d: %w", n, RawRowSize, ErrFormat)
	}
	if binary.LittleEndian.Uint32(b[60:]) != rawSum(b) {
		return RawHeader{}, fmt.Errorf("the raw file's header is damaged (checksum): %w", ErrFormat)
	}
	id := b[16:32]
	for len(id) > 0 && id[len(id)-1] == 0 {
		id = id[:len(id)-1]
	}
	return RawHeader{
		Run:     string(id),
		Base:    int64(binary.LittleEndian.Uint64(b[32:])),
		Dropped: int64(binary.LittleEndian.Uint64(b[40:])),
		Closed:  b[48] != 0,
	}, nil
}

func rawSum(b []byte) uint32 {
	return crc32.Checksum(b[:60], crc32.MakeTable(crc32.Castagnoli))
}
