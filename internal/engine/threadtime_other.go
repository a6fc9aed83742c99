//go:build !linux

package engine

// threadTime is Linux's only.
type threadTime struct{}

func (*threadTime) open()  {}
func (*threadTime) close() {}

func (*threadTime) awake() (int64, bool) { return 0, false }
