package sixnines

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"sixnines/internal/clock"
)

// A ring is never missed, however it falls between listen and wait.
func TestWakePipeIsRead(t *testing.T) {
	b, err := newWakePipe()
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	queue := make(chan int, n)
	done := make(chan int)
	go func() {
		got := 0
		for got < n {
			b.listen()
			for drained := false; !drained; {
				select {
				case <-queue:
					got++
				default:
					drained = true
				}
			}
			if got < n && b.wait() != nil {
				break
			}
		}
		done <- got
	}()
	var ringers sync.WaitGroup
	for range 4 {
		ringers.Go(func() {
			for range n / 4 {
				queue <- 1
				b.ring()
			}
		})
	}
	ringers.Wait()
	select {
	case got := <-done:
		if got != n {
			t.Errorf("%d of %d were heard", got, n)
		}
	case <-time.After(20 * time.Second):
		t.Error("the listener sleeps on what was rung for")
	}
	b.close()
	b.ring() // to nobody
	if err := b.wait(); err == nil {
		t.Error("a closed pipe woke its reader")
	}
}

// BenchmarkWake is what wakePipe is for: how long after a send on a pacer's thread,
// which sleeps without telling the scheduler, a goroutine has it. Read p50-ns;
// ns/op is the pacer's period.
func BenchmarkWake(b *testing.B) {
	for _, tt := range []struct {
		name     string
		wakePipe bool
	}{{"channel", false}, {"pipe", true}} {
		b.Run(tt.name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)) // as the engine does
			queue := make(chan int64, b.N)
			late := make([]int64, 0, b.N)
			var ring *wakePipe
			var listener sync.WaitGroup
			if tt.wakePipe {
				var err error
				if ring, err = newWakePipe(); err != nil {
					b.Fatal(err)
				}
				listener.Go(func() {
					for len(late) < b.N {
						ring.listen()
						for drained := false; !drained; {
							select {
							case sent := <-queue:
								late = append(late, clock.Now()-sent)
							default:
								drained = true
							}
						}
						if len(late) < b.N && ring.wait() != nil {
							return
						}
					}
				})
			} else {
				listener.Go(func() {
					for len(late) < b.N {
						sent := <-queue
						late = append(late, clock.Now()-sent)
					}
				})
			}
			var pacer sync.WaitGroup
			pacer.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				_ = clock.SetTimerSlack(1)
				due := clock.Now()
				for range b.N {
					due += 200_000
					clock.SleepUntil(due)
					queue <- clock.Now()
					if ring != nil {
						ring.ring()
					}
				}
			})
			pacer.Wait()
			listener.Wait()
			if ring != nil {
				ring.close()
			}
			slices.Sort(late)
			b.ReportMetric(float64(late[len(late)/2]), "p50-ns")
			b.ReportMetric(float64(late[len(late)*99/100]), "p99-ns")
		})
	}
}
