package nullbroker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// logBuffer is how many bytes of entries are collected at most.
const logBuffer = 1 << 20

// logPeriod is how long an entry stays in memory at most.
const logPeriod = 250 * time.Millisecond

// log writes entries to a file. Its methods are safe for concurrent use.
type log struct {
	mu   sync.Mutex
	file *os.File
	buf  []byte
	err  error // the first
}

// openLog opens a log to append to; what a killed broker left is kept, without
// the half of an entry that it may end with.
func openLog(path string) (*log, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	l := &log{file: f, buf: make([]byte, 0, logBuffer)}
	if err := l.resume(path); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

func (l *log) resume(path string) error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < int64(len(logHeader)) {
		head := make([]byte, info.Size())
		if _, err := io.ReadFull(l.file, head); err != nil {
			return err
		}
		if string(head) != logHeader[:len(head)] {
			return fmt.Errorf("%s: %w; name another file", path, errLog)
		}
		_, err := l.file.WriteAt([]byte(logHeader), 0)
		if err == nil {
			_, err = l.file.Seek(0, io.SeekEnd)
		}
		return err
	}
	head := make([]byte, len(logHeader))
	if _, err := io.ReadFull(l.file, head); err != nil {
		return err
	}
	if string(head) != logHeader {
		return fmt.Errorf("%s: %w; name another file", path, errLog)
	}
	whole := info.Size() - (info.Size()-int64(len(logHeader)))%logEntrySize
	if err := l.file.Truncate(whole); err != nil {
		return err
	}
	_, err = l.file.Seek(whole, io.SeekStart)
	return err
}

// add adds an entry.
func (l *log) add(e Entry) {
	l.mu.Lock()
	if len(l.buf)+logEntrySize > cap(l.buf) {
		l.write()
	}
	l.buf = appendEntry(l.buf, e)
	l.mu.Unlock()
}

// write writes out what there is; mu is held. What cannot be written is lost,
// and the error kept: the broker goes on, and ends with it.
func (l *log) write() {
	if len(l.buf) == 0 {
		return
	}
	if _, err := l.file.Write(l.buf); err != nil && l.err == nil {
		l.err = err
	}
	l.buf = l.buf[:0]
}

// flush writes out what there is and returns the first error there was.
func (l *log) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write()
	return l.err
}

// tick flushes once a period until over is closed.
func (l *log) tick(over <-chan struct{}) {
	every := time.NewTicker(logPeriod)
	defer every.Stop()
	for {
		select {
		case <-over:
			return
		case <-every.C:
			_ = l.flush() // close returns the error
		}
	}
}

func (l *log) close() error { return errors.Join(l.flush(), l.file.Close()) }
