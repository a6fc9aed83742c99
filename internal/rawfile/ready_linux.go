package rawfile

import "golang.org/x/sys/unix"

// populate makes the kernel fault in the pages of b now, so that the first store to each does
// not wait. Before Linux 5.14 the call fails and the stores wait.
func populate(b []byte) { _ = unix.Madvise(b, unix.MADV_POPULATE_WRITE) }
