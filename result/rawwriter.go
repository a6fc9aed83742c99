package result

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// RawBlockRows is the number of rows of a block.
const RawBlockRows = 1024

const rawBlockSize = RawBlockRows * RawRowSize

// RawWriter writes a raw file of a fixed number of rows, reserved on the disk
// before the run. Where the system can, the file is mapped into memory, so that
// a row costs a few stores and a run that is killed leaves all rows that it
// wrote.
//
// Rows are written through shards, one per goroutine: a shard takes blocks of
// [RawBlockRows] rows with one atomic addition, so that no two goroutines write
// to one block and no row takes a lock. Nothing grows while the run is on: rows
// beyond the reserved ones are dropped and counted.
type RawWriter struct {
	file    *os.File
	header  RawHeader
	blocks  int64
	memory  []byte       // the whole file; nil: not mapped, blocks are written when full
	next    atomic.Int64 // number of the next block, taken by all shards; may exceed blocks
	ready   int64        // blocks whose memory is ready; used by the caller of Ready only
	dropped atomic.Int64
	failed  atomic.Pointer[error]
}

// CreateRaw makes the raw file at path, which must not exist, with room for at
// least rows rows, rounded up to whole blocks. Plan one block per shard beyond the
// expected rows. CreateRaw takes as long as reserving that much disk space.
func CreateRaw(path string, h RawHeader, rows int64) (*RawWriter, error) {
	const most = 1 << 50 / rawBlockSize // a petabyte: a larger number is an arithmetic mistake
	blocks := max((rows+RawBlockRows-1)/RawBlockRows, 1)
	if rows < 0 || blocks > most {
		return nil, fmt.Errorf("create raw file: %d rows cannot be reserved", rows)
	}
	h.Dropped, h.Closed = 0, false
	head, err := h.encode()
	if err != nil {
		return nil, fmt.Errorf("create raw file: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create raw file: %w", err)
	}
	w := &RawWriter{file: f, header: h, blocks: blocks}
	size := rawHeaderSize + blocks*rawBlockSize
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
func (w *RawWriter) Shard() *RawShard { return &RawShard{writer: w, block: -1} }

// Ready makes the memory of one more block ready, so that the first row on each page does not
// wait for the page. It keeps up to blocks blocks ready ahead of those in use, and reports
// whether it made one ready; false: enough are, or the file is not mapped. The system must
// support it (Linux from 5.14 on), otherwise it has no effect. It takes some microseconds for
// each of the block's ten pages. It may be called while shards write, but not by two
// goroutines at a time.
func (w *RawWriter) Ready(blocks int64) bool {
	used := min(w.next.Load(), w.blocks)
	w.ready = max(w.ready, used)
	if w.memory == nil || w.ready >= min(used+blocks, w.blocks) {
		return false
	}
	page := int64(os.Getpagesize())
	at := rawHeaderSize + w.ready*rawBlockSize
	populate(w.memory[at/page*page : at+rawBlockSize])
	w.ready++
	return true
}

// Dropped returns how many rows found no room. It is safe for concurrent use.
func (w *RawWriter) Dropped() int64 { return w.dropped.Load() }

// Close cuts the file to the blocks in use, completes its header, syncs it to the
// disk and closes it. Every shard must have been closed before. Closing twice is
// allowed.
func (w *RawWriter) Close() error {
	if w.file == nil {
		return nil
	}
	var errs []error
	if p := w.failed.Load(); p != nil {
		errs = append(errs, *p)
	}
	used := min(w.next.Load(), w.blocks)
	w.header.Dropped, w.header.Closed = w.dropped.Load(), true
	head, err := w.header.encode()
	errs = append(errs, err, unmapFile(w.memory))
	w.memory = nil
	errs = append(errs, w.file.Truncate(rawHeaderSize+used*rawBlockSize))
	_, err = w.file.WriteAt(head, 0)
	errs = append(errs, err, w.file.Sync(), w.file.Close())
	w.file = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close raw file: %w", err)
	}
	return nil
}

// RawShard is one goroutine's access to a [RawWriter].
type RawShard struct {
	writer *RawWriter
	block  int64  // number of the current block, −1: none
	rows   []byte // the unused rest of the current block
	buffer []byte // the current block, where the file is not mapped
}

// Put writes a row, or counts it as dropped if the file is full. It does not block,
// unless the file is not mapped: then every 1,024th row writes a block to the file.
func (s *RawShard) Put(r RawRow) {
	if len(s.rows) < RawRowSize && !s.take() {
		s.writer.dropped.Add(1)
		return
	}
	PutRow(s.rows, r)
	s.rows = s.rows[RawRowSize:]
}

// take makes the next free block the current one; false if no block is left.
func (s *RawShard) take() bool {
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
		at := rawHeaderSize + n*rawBlockSize
		s.rows = w.memory[at : at+rawBlockSize : at+rawBlockSize]
		return true
	}
	if s.buffer == nil {
		s.buffer = make([]byte, rawBlockSize)
	}
	clear(s.buffer)
	s.rows = s.buffer
	return true
}

// Close ends the current block, whose unused rows stay empty, and writes it to the
// file if that is not mapped. The shard may be used again: it then takes another
// block. Its failure is returned by [RawWriter.Close].
func (s *RawShard) Close() {
	w := s.writer
	if s.block >= 0 && w.memory == nil && len(s.buffer) > 0 {
		if _, err := w.file.WriteAt(s.buffer, rawHeaderSize+s.block*rawBlockSize); err != nil {
			w.failed.CompareAndSwap(nil, &err)
		}
	}
	s.block, s.rows = -1, nil
}
