package drivertest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// goroutines returns the stacks of all goroutines by their first line ("goroutine 7"),
// except those of the runtime and of package testing, and those that wait for a child
// process to end: a broker that was restarted.
func goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	all := map[string]string{}
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		id, _, _ := strings.Cut(stack, " [")
		if strings.Contains(stack, "testing.(*T).Run(") || strings.Contains(stack, "testing.(*M).") ||
			strings.Contains(stack, "created by os/signal.") || strings.Contains(stack, "created by runtime.") ||
			strings.Contains(stack, "os/exec.(*Cmd).Wait(") || strings.Contains(stack, "drivertest.goroutines(") {
			continue
		}
		all[id] = stack
	}
	return all
}

// newSince returns the stacks of goroutines that are not in before.
func newSince(before map[string]string) []string {
	var fresh []string
	for id, stack := range goroutines() {
		if _, ok := before[id]; !ok {
			fresh = append(fresh, stack)
		}
	}
	return fresh
}

// noneLeft waits until every goroutine that is not in before has ended, except those in
// one of the functions of but.
func noneLeft(before map[string]string, patience time.Duration, but []string) error {
	limit := time.Now().Add(patience)
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 50*time.Millisecond) {
		fresh := slices.DeleteFunc(newSince(before), func(stack string) bool {
			return slices.ContainsFunc(but, func(f string) bool { return strings.Contains(stack, f+"(") })
		})
		if len(fresh) == 0 {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%d goroutines are left when all is closed:\n%s", len(fresh), strings.Join(fresh, "\n\n"))
		}
		time.Sleep(pause) // between looks at the condition
	}
}
