//go:build unix && !linux

package thread

func sealFrom(uint) bool { return false }
