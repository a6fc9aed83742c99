package vitals

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	// listThreads is the interval between searches for new threads.
	listThreads = 10 * quickLook
	// maxThreads bounds the files kept open for this process's threads, and
	// maxBrokerThreads those for one process of the broker, which is read less often.
	maxThreads       = 256
	maxBrokerThreads = 1024
)

// threadTimes reads how long each thread of a process ran and waited for a processor; the
// kernel counts that per thread only. Not safe for concurrent use.
type threadTimes struct {
	path    string // /proc/PID/task
	most    int    // threads that are read
	dir     int
	threads map[int]*openThread
	next    int64 // when to search for new threads
	entries []byte
	names   []string
	text    [64]byte
}

type openThread struct {
	fd   int
	last threadTime
}

// openThreadTimes takes the first reading of the threads of a process, a number or self.
// It reads at most most threads, those with the lowest numbers first.
func openThreadTimes(process string, most int, now int64) (*threadTimes, error) {
	path := "/proc/" + process + "/task"
	dir, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	t := &threadTimes{path: path, most: most, dir: dir, threads: map[int]*openThread{}, next: now, entries: make([]byte, 8192)}
	if err := t.look(now, nil); err != nil {
		t.close()
		return nil, err
	}
	if len(t.threads) == 0 {
		t.close()
		return nil, fmt.Errorf("%s/*/schedstat: %w: built without CONFIG_SCHED_INFO", path, errNotOffered)
	}
	return t, nil
}

// look calls each with the growth of each thread's times since the last look. The first
// reading of a new thread only sets its baseline. threads is empty once the process has ended.
func (t *threadTimes) look(now int64, each func(threadTime)) error {
	for id, x := range t.threads {
		is, ok := t.read(x.fd)
		if !ok { // the thread has ended
			unix.Close(x.fd)
			delete(t.threads, id)
			continue
		}
		each(threadTime{max(0, is.ran-x.last.ran), max(0, is.waited-x.last.waited)})
		x.last = is
	}
	if now < t.next {
		return nil
	}
	t.next = now + listThreads
	return t.list()
}

func (t *threadTimes) read(fd int) (threadTime, bool) {
	for {
		n, err := unix.Pread(fd, t.text[:], 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return threadTime{}, false
		}
		return parseThreadTime(t.text[:n])
	}
}

// list opens the files of new threads.
func (t *threadTimes) list() error {
	if _, err := unix.Seek(t.dir, 0, 0); err != nil {
		return fmt.Errorf("%s: %w", t.path, err)
	}
	for {
		n, err := unix.ReadDirent(t.dir, t.entries)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", t.path, err)
		}
		if n <= 0 {
			return nil
		}
		_, _, t.names = unix.ParseDirent(t.entries[:n], -1, t.names[:0])
		for _, name := range t.names {
			id, err := strconv.Atoi(name)
			if err != nil || t.threads[id] != nil || len(t.threads) == t.most {
				continue
			}
			fd, err := unix.Openat(t.dir, name+"/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				continue // the thread has ended, or the kernel has no such file
			}
			is, ok := t.read(fd)
			if !ok {
				unix.Close(fd)
				continue
			}
			t.threads[id] = &openThread{fd, is}
		}
	}
}

func (t *threadTimes) close() {
	for _, x := range t.threads {
		unix.Close(x.fd)
	}
	unix.Close(t.dir)
}
