package brokers

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Usage is what a broker's process has consumed since it was started.
type Usage struct {
	UserCPU time.Duration // in user mode, all threads; Linux counts it in steps of 10 ms
	SysCPU  time.Duration // in the kernel on its behalf, likewise
	RSS     int64         // resident memory now, in bytes
	Threads int           // threads now
	// Bytes that it made the storage read and write. A write into the page cache
	// counts as written. -1: the system does not report it.
	ReadBytes, WriteBytes int64
}

// Usage reads what the process has consumed from /proc. It fails when the
// process is gone, and elsewhere than on Linux with an error that wraps
// [ErrUnavailable].
func (i *Instance) Usage() (Usage, error) {
	select {
	case <-i.done: // its number may already be another process's
		return Usage{}, fmt.Errorf("brokers: usage of %s (process %d): %w", i.Name, i.PID, os.ErrProcessDone)
	default:
	}
	u, err := usage(i.PID)
	if err != nil {
		return Usage{}, fmt.Errorf("brokers: usage of %s (process %d): %w", i.Name, i.PID, err)
	}
	return u, nil
}

// ProcessUsage is the usage of one of a cluster's processes.
type ProcessUsage struct {
	Name string // of the process, unique in the cluster: "kafka-2"
	PID  int
	Usage
	// Err is nil if Usage is valid. Else it says that the process ended by itself
	// (see [Instance.Err]), that it was stopped ([os.ErrProcessDone]), or that the
	// system does not report its usage ([ErrUnavailable]).
	Err error
	// Ended is when the process ended, with a monotonic reading; zero: it runs.
	Ended time.Time
}

// Usage reads what each process of the cluster has consumed, nodes first. A
// process that was restarted counts from its restart.
func (c *Cluster) Usage() []ProcessUsage {
	var all []ProcessUsage
	for _, i := range c.instances() {
		u := ProcessUsage{Name: i.Name, PID: i.PID}
		u.Usage, u.Err = i.Usage()
		if u.Err != nil {
			if death := i.Err(); death != nil {
				u.Err = death
			} else if i.over() {
				u.Err = fmt.Errorf("brokers: usage of %s (process %d): %w", i.Name, i.PID, os.ErrProcessDone)
			}
			if i.over() {
				u.Ended = i.endedAt
			}
		}
		all = append(all, u)
	}
	return all
}

// over reports whether the process has ended.
func (i *Instance) over() bool {
	select {
	case <-i.done:
		return true
	default:
		return false
	}
}

// isGone reports whether err says that there is no such process any more.
func isGone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrProcessDone)
}
