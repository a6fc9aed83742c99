package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sync"

	"sixnines/internal/fleet/wire"
)

// spool is a file of records. One goroutine appends while another reads: what waits for the network is in the
// file, and memory does not grow with it.
type spool struct {
	mu      sync.Mutex
	file    *os.File
	ends    []int64       // where each record ends in the file
	more    chan struct{} // has an element when records came, or the last one has
	written bool          // no record follows
}

// spoolHead is the size of what precedes each record in the file: its length and its CRC-32C.
const spoolHead = 8

func newSpool(path string) (*spool, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &spool{file: f, more: make(chan struct{}, 1)}, nil
}

// append adds a record, and returns how many there are.
func (s *spool) append(record []byte) (int, error) {
	if len(record) > wire.MaxRecord {
		return 0, fmt.Errorf("a record of %d bytes; at most %d", len(record), wire.MaxRecord)
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(record)))
	head = binary.LittleEndian.AppendUint32(head, sum(record))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written {
		return 0, errors.New("a record after the last one")
	}
	at := s.size()
	if _, err := s.file.WriteAt(head, at); err != nil {
		return 0, err
	}
	if _, err := s.file.WriteAt(record, at+spoolHead); err != nil {
		return 0, err
	}
	s.ends = append(s.ends, at+spoolHead+int64(len(record)))
	s.wake()
	return len(s.ends), nil
}

func (s *spool) size() int64 {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

func (s *spool) wake() {
	select {
	case s.more <- struct{}{}:
	default: // it is awake
	}
}

// end says that no record follows, and writes the file to the disk.
func (s *spool) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = true
	s.wake()
	return s.file.Sync()
}

// state returns how many records there are, and whether there will be more.
func (s *spool) state() (records int, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ends), s.written
}

// read returns a record that is there, in buf if it fits.
func (s *spool) read(number int, buf []byte) ([]byte, error) {
	s.mu.Lock()
	from := int64(0)
	if number > 0 {
		from = s.ends[number-1]
	}
	size := int(s.ends[number] - from)
	s.mu.Unlock()
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	if _, err := s.file.ReadAt(buf, from); err != nil {
		return nil, err
	}
	record := buf[spoolHead:]
	if int(binary.LittleEndian.Uint32(buf)) != len(record) || binary.LittleEndian.Uint32(buf[4:]) != sum(record) {
		return nil, fmt.Errorf("%s: record %d is damaged", s.file.Name(), number)
	}
	return record, nil
}

func (s *spool) close() error { return s.file.Close() }

func sum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
