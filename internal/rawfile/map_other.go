//go:build !unix

package rawfile

import "os"

// mapFile returns nil: files are not mapped here, and blocks are written when full.
func mapFile(*os.File, int64) ([]byte, error) { return nil, nil }

func unmapFile([]byte) error { return nil }
