package rawfile

import "os"

// fillZeros writes size zero bytes. It reserves disk space where the file system has no
// call for that.
func fillZeros(f *os.File, size int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(size-at, int64(len(zeros)))], at); err != nil {
			return err
		}
	}
	return nil
}
