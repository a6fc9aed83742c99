package child

import (
	"os"
	"testing"

	"sixnines/internal/thread/threadtest"
)

// What a run asked of its threads is none of a process's that is started later.
func TestProcessIsScheduledAsThisOneBegan(t *testing.T) {
	begun := threadtest.Scheduling(t, os.Getpid())
	threadtest.Shorten(t)
	for _, kill := range []bool{false, true} {
		p, err := Start(Options{Command: []string{"sleep", "60"}, Kill: kill})
		if err != nil {
			t.Fatal(err)
		}
		if s := threadtest.Scheduling(t, p.PID()); s != begun {
			t.Errorf("kill %v: the process has %s, this one began with %s", kill, s, begun)
		}
		p.Kill()
		<-p.Ended()
	}
}
