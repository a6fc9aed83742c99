package plan

import (
	"os"
	"runtime"

	"sixnines/internal/vitals"
)

// Processors is how many of the client's goroutines may run at once: GOMAXPROCS
// as it was found, or less where a control group's quota allows less. Go looks at
// the process's own group only, where it looks at all; it never takes fewer than
// two either. What the user has set stays.
func Processors() int {
	n := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") != "" {
		return n
	}
	return min(n, max(2, vitals.Processors()))
}

// MaxShards is how many goroutines write to a recorder at once, at most: one for each processor.
func MaxShards() int { return Processors() }
