//go:build !linux

package send

// threadTime is Linux's only.
type threadTime struct{}

func threadID() int64             { return 0 }
func openThread(int64) threadTime { return threadTime{} }
func (*threadTime) close()        {}

func (*threadTime) own() (ran, waited int64, ok bool)  { return 0, 0, false }
func (*threadTime) read() (ran, waited int64, ok bool) { return 0, 0, false }
