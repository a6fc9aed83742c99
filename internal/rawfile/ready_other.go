//go:build !linux

package rawfile

// populate does nothing here: the first store to a page waits for the page.
func populate([]byte) {}
