package rawfile

import (
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"sixnines/result"
)

// Rows that are put where the memory was made ready wait for no page; more than the file
// has is not asked for.
func TestReady(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const blocks = 50
	w, err := Create(filepath.Join(t.TempDir(), "a.raw"), result.RawHeader{Run: "r"}, blocks*BlockRows)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Madvise(w.memory[:result.RawHeaderSize], unix.MADV_POPULATE_WRITE); err != nil {
		t.Skipf("this kernel does not make memory ready beforehand: %v", err)
	}
	s := w.Shard()
	put := func(of int) (faults int64) {
		before := minorFaults(t)
		for i := range of * BlockRows {
			s.Put(result.RawRow{Kind: result.RawSent, Seq: int64(i)})
		}
		return minorFaults(t) - before
	}
	const half, pages = blocks / 2, blocks / 2 * 10
	t.Logf("%d faults in %d fresh pages", put(half), pages) // a file system may make several ready at once
	n := 0
	for w.Ready(half / 5) {
		n++
	}
	for w.Ready(2 * blocks) {
		n++
	}
	if n != half {
		t.Errorf("%d blocks were made ready, want %d", n, half)
	}
	if n := put(half); n > pages/4 {
		t.Errorf("%d faults in %d pages that were ready", n, pages)
	}
	s.Close()
	if n := w.Dropped(); n != 0 {
		t.Errorf("%d rows were dropped", n)
	}
	if w.Ready(1) {
		t.Error("a block beyond the file was made ready")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// minorFaults is how many pages this thread has waited for without a disk.
func minorFaults(t *testing.T) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		t.Fatal(err)
	}
	return u.Minflt
}
