// Package rawfile writes raw files, whose rows package result reads.
package rawfile

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"sixnines/result"
)

// BlockRows is the number of rows of a block.
const BlockRows = 1024

const blockSize = BlockRows * result.RawRowSize

// Writer writes a raw file of a fixed number of rows, reserved on the disk
// before the run. Where the system can, the file is mapped into memory, so that
// a row costs a few stores and a run that is killed leaves all rows that it
// wrote.
//
// Rows are written through shards, one per goroutine: a shard takes blocks of
// [BlockRows] rows with one atomic addition, so that no two goroutines write
// to one block and no row takes a lock. Nothing grows while the run is on: rows
// beyond the reserved ones are dropped and counted.
type Writer struct {
	file    *os.File
	header  result.RawHeader
	blocks  int64
	memory  []byte       // the whole file; nil: not mapped, blocks are written when full
	next    atomic.Int64 // number of the next block, taken by all shards; may exceed blocks
	ready   int64        // blocks whose memory is ready; used by the caller of Ready only
	dropped atomic.Int64
	failed  atomic.Pointer[error]
}

// Create makes the raw file at path, which must not exist, with room for at
// least rows rows, rounded up to whole blocks. Plan one block per shard beyond the
// expected rows. Create takes as long as reserving that much disk space.
func Create(path string, h result.RawHeader, rows int64) (*Writer, error) {
	const most = 1 << 50 / blockSize // a petabyte: a larger number is an arithmetic mistake
	blocks := max((rows+BlockRows-1)/BlockRows, 1)
	if rows < 0 || blocks > most {
		return nil, fmt.Errorf("create raw file: %d rows cannot be reserved", rows)
	}
	h.Dropped, h.Closed = 0, false
	head, err := h.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("create raw file: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create raw file: %w", err)
	}
	w := &Writer{file: f, header: h, blocks: blocks}
	size := result.RawHeaderSize + blocks*blockSize
	if err = reserve(f, size); err == nil {
		if w.memory, err = mapFile(f, size); err == nil {
			_, err = f.WriteAt(head, 0)
		}
	}
	if err != nil {
		err = fmt.Errorf("create raw file of %d MiB: %w", size>>20, err)
		return nil, errors.Join(err, unmapFile(w.memory), f.Close(), os.Remove(path))
	}
	return w, nil
}

// Shard returns a new shard. It is safe for concurrent use; the shard is not.
func (w *Writer) Shard() *Shard { return &Shard{writer: w, block: -1} }

// Ready makes the memory of one more block ready, so that the first row on each page does not
// wait for the page. It keeps up to blocks blocks ready ahead of those in use, and reports
// whether it made one ready; false: enough are, or the file is not mapped. The system must
// support it (Linux from 5.14 on), otherwise it has no effect. It takes some microseconds for
// each of the block's ten pages. It may be called while shards write, but not by two
// goroutines at a time.
func (w *Writer) Ready(blocks int64) bool {
	used := min(w.next.Load(), w.blocks)
	w.ready = max(w.ready, used)
	if w.memory == nil || w.ready >= min(used+blocks, w.blocks) {
		return false
	}
	page := int64(os.Getpagesize())
	at := result.RawHeaderSize + w.ready*blockSize
	populate(w.memory[at/page*page : at+blockSize])
	w.ready++
	return true
}

// Dropped returns how many rows found no room. It is safe for concurrent use.
func (w *Writer) Dropped() int64 { return w.dropped.Load() }

// Close cuts the file to the blocks in use, completes its header, syncs it to the
// disk and closes it. Every shard must have been closed before. Closing twice is
// allowed.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	var errs []error
	if p := w.failed.Load(); p != nil {
		errs = append(errs, *p)
	}
	used := min(w.next.Load(), w.blocks)
	w.header.Dropped, w.header.Closed = w.dropped.Load(), true
	head, err := w.header.MarshalBinary()
	errs = append(errs, err, unmapFile(w.memory))
	w.memory = nil
	errs = append(errs, w.file.Truncate(result.RawHeaderSize+used*blockSize))
	_, err = w.file.WriteAt(head, 0)
	errs = append(errs, err, w.file.Sync(), w.file.Close())
	w.file = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close raw file: %w", err)
	}
	return nil
}

// Shard is one goroutine's access to a [Writer].
type Shard struct {
	writer *Writer
	block  int64  // number of the current block, −1: none
	rows   []byte // the unused rest of the current block
	buffer []byte // the current block, where the file is not mapped
}

// Put writes a row, or counts it as dropped if the file is full. It does not block,
// unless the file is not mapped: then every 1,024th row writes a block to the file.
func (s *Shard) Put(r result.RawRow) {
	if len(s.rows) < result.RawRowSize && !s.take() {
		s.writer.dropped.Add(1)
		return
	}
	result.PutRow(s.rows, r)
	s.rows = s.rows[result.RawRowSize:]
}

// take makes the next free block the current one; false if no block is left.
func (s *Shard) take() bool {
	s.Close()
	w := s.writer
	if w.next.Load() >= w.blocks { // so that the counter of a full file cannot overflow
		return false
	}
	n := w.next.Add(1) - 1
	if n >= w.blocks {
		return false
	}
	s.block = n
	if w.memory != nil {
		at := result.RawHeaderSize + n*blockSize
		s.rows = w.memory[at : at+blockSize : at+blockSize]
		return true
	}
	if s.buffer == nil {
		s.buffer = make([]byte, blockSize)
	}
	clear(s.buffer)
	s.rows = s.buffer
	return true
}

// Close ends the current block, whose unused rows stay empty, and writes it to the
// file if that is not mapped. The shard may be used again: it then takes another
// block. Its failure is returned by [Writer.Close].
func (s *Shard) Close() {
	w := s.writer
	if s.block >= 0 && w.memory == nil && len(s.buffer) > 0 {
		if _, err := w.file.WriteAt(s.buffer, result.RawHeaderSize+s.block*blockSize); err != nil {
			w.failed.CompareAndSwap(nil, &err)
		}
	}
	s.block, s.rows = -1, nil
}
