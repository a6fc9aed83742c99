package netns

import (
	"errors"
	"testing"

	"github.com/vishvananda/netlink"
)

// A list of the kernel's that something changed in its middle is read again, and another error is not.
func TestWholeLists(t *testing.T) {
	calls := 0
	all, err := whole(func() ([]int, error) {
		if calls++; calls < 3 {
			return nil, netlink.ErrDumpInterrupted
		}
		return []int{7}, nil
	})
	if err != nil || calls != 3 || len(all) != 1 {
		t.Errorf("%v after %d calls: %v", all, calls, err)
	}
	other := errors.New("no")
	if _, err := whole(func() ([]int, error) { calls++; return nil, other }); err != other || calls != 4 {
		t.Errorf("%d calls: %v", calls, err)
	}
}
