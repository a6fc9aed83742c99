package clock

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestProcessesOfOneDomainShareTheClock(t *testing.T) {
	before := Now()
	now, dom := child(t)
	after := Now()
	if dom != Domain() {
		t.Fatalf("the child's domain is %q, ours %q", dom, Domain())
	}
	// The child's bracket is about as wide as ours; the microsecond allows
	// for the difference.
	if slack := int64(time.Microsecond + Bracket()); now < before-slack || now > after+slack {
		t.Errorf("the child read %d, not within [%d, %d]", now, before, after)
	}
}

func TestBoottimeIsNotBehind(t *testing.T) {
	// Equal without suspension, ahead with; a time namespace may shift it,
	// which a constant difference does not show.
	gap := func() (least, most int64) {
		before := absolute()
		b := Boottime()
		return b - absolute(), b - before
	}
	least, most := gap()
	for range 1000 {
		l, m := gap()
		if l > most || m < least {
			t.Fatalf("BOOTTIME − MONOTONIC moved from [%d, %d] to [%d, %d]", least, most, l, m)
		}
		least, most = max(least, l), min(most, m)
	}
}

func TestSetTimerSlack(t *testing.T) {
	done := make(chan struct{})
	go func() { // a thread that is thrown away with its slack
		defer close(done)
		runtime.LockOSThread()
		for _, ns := range []int{1, 12_345} {
			if err := SetTimerSlack(ns); err != nil {
				t.Error(err)
			}
			if got, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); got != ns || err != nil {
				t.Errorf("slack is %d (%v), want %d", got, err, ns)
			}
		}
		if SetTimerSlack(-1) == nil {
			t.Error("a negative slack was taken")
		}
	}()
	<-done
}

// A collector that must stop the world need not wait for a raw
// sleep: the preemption signal ends it and SleepUntil yields.
func TestRawSleepGivesWayToTheCollector(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const sleep = 500 * time.Millisecond
	for name, until := range map[string]func(int64){
		"SleepUntil": SleepUntil,
		"SleepUntilKeeping": func(at int64) {
			for SleepUntilKeeping(at) < at {
			}
		},
	} {
		var asleep, woke atomic.Bool
		var wait sync.WaitGroup
		wait.Go(func() {
			asleep.Store(true)
			until(Now() + int64(sleep))
			woke.Store(true)
		})
		for !asleep.Load() {
			runtime.Gosched()
		}
		runtime.GC()
		if woke.Load() {
			t.Errorf("%s: a collection took until a sleep of %v was over", name, sleep)
		}
		wait.Wait()
	}
}

// A sleep that a signal ends is distinguished from one that lasted its full time.
func TestKeepingSleepTellsOfSignals(t *testing.T) {
	thread := make(chan int, 1)
	const sleep = 10 * time.Second // which the test does not wait for
	var left int64
	var wait sync.WaitGroup
	wait.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread <- unix.Gettid()
		at := Now() + int64(sleep)
		left = at - SleepUntilKeeping(at)
	})
	id := <-thread
	over := make(chan struct{})
	go func() { wait.Wait(); close(over) }()
	for done := false; !done; {
		if err := unix.Tgkill(os.Getpid(), id, unix.SIGURG); err != nil && !errors.Is(err, unix.ESRCH) {
			t.Fatal(err)
		}
		select {
		case <-over:
			done = true
		case <-time.After(time.Millisecond):
		}
	}
	if left <= 0 {
		t.Errorf("cut short, a sleep of %v says it ended %v late", sleep, time.Duration(-left))
	}
}

// With its only processor taken by goroutines that never yield, a woken
// thread waits for the runtime, not for the operating system. The stamp must
// not include that wait.
func TestStampExcludesTheRuntime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var stop atomic.Bool
	var wait sync.WaitGroup
	for range 4 { // enough to keep a queue for the processor
		wait.Go(func() {
			for !stop.Load() {
			}
		})
	}
	var system, scheduler int64
	for range 11 {
		at := Now() + 20_000_000 // long enough for the runtime to take the processor away
		woke := SleepUntilStamped(at)
		system += woke - at
		scheduler += Now() - woke
	}
	stop.Store(true)
	wait.Wait()
	if system >= scheduler {
		t.Errorf("delays: %d ns by the system, %d ns by the runtime; the latter should be the greater", system, scheduler)
	}
}

// Signals, the runtime's own included, interrupt a sleep; it must then continue.
func TestSleepsOutlastSignals(t *testing.T) {
	for name, sleep := range map[string]func(int64){
		"SleepUntil":         SleepUntil,
		"SleepUntilBlocking": SleepUntilBlocking,
		"SleepUntilStamped":  func(at int64) { SleepUntilStamped(at) },
	} {
		t.Run(name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(2)))
			thread := make(chan int, 1)
			var done atomic.Bool
			var early int64
			var wait sync.WaitGroup
			wait.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				thread <- unix.Gettid()
				at := Now() + int64(50*time.Millisecond)
				sleep(at)
				early = at - Now()
				done.Store(true)
			})
			id, sent := <-thread, 0
			for !done.Load() {
				// SIGURG is what the runtime sends itself and ignores if spurious.
				if err := unix.Tgkill(os.Getpid(), id, unix.SIGURG); err != nil && !errors.Is(err, unix.ESRCH) {
					t.Fatal(err)
				}
				sent++
				SleepUntilBlocking(Now() + 1_000_000)
			}
			wait.Wait()
			if early > int64(Bracket()) {
				t.Errorf("woke %d ns early after %d signals", early, sent)
			}
		})
	}
}

func benchmarkSleep(b *testing.B, sleep func(int64)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := SetTimerSlack(1); err != nil {
		b.Fatal(err)
	}
	defer SetTimerSlack(0)
	const period = 300_000
	late := make([]int64, 0, 1<<16)
	for b.Loop() {
		at := Now() + period
		sleep(at)
		late = append(late, Now()-at)
	}
	slices.Sort(late)
	b.ReportMetric(float64(late[len(late)/2]), "late-p50-ns")
	b.ReportMetric(float64(late[len(late)*99/100]), "late-p99-ns")
}

// How late the sleeps are on an otherwise idle runtime, 300 µs at a time.
func BenchmarkSleepUntil(b *testing.B)         { benchmarkSleep(b, SleepUntil) }
func BenchmarkSleepUntilBlocking(b *testing.B) { benchmarkSleep(b, SleepUntilBlocking) }
func BenchmarkSleepUntilKeeping(b *testing.B) {
	benchmarkSleep(b, func(at int64) { SleepUntilKeeping(at) })
}

func BenchmarkSleepUntilStamped(b *testing.B) {
	benchmarkSleep(b, func(at int64) { SleepUntilStamped(at) })
}
func BenchmarkTimeSleep(b *testing.B) {
	benchmarkSleep(b, func(at int64) { time.Sleep(time.Duration(at - Now())) })
}

// BenchmarkStartWhileAsleep measures how long a goroutine takes to begin that a thread
// has started just before it sleeps, for each kind of sleep, and for an ordinary
// goroutine that waits in Go.
func BenchmarkStartWhileAsleep(b *testing.B) {
	sleeps := []struct {
		name  string
		sleep func(int64)
	}{{"keeping", SleepUntil}, {"handing over", SleepUntilHandingOver}, {"ordinary", nil}}
	for _, s := range sleeps {
		b.Run(s.name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1))
			if s.sleep != nil {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				if err := SetTimerSlack(1); err != nil {
					b.Fatal(err)
				}
				defer func() { _ = SetTimerSlack(0) }()
			}
			var took []int64
			began := make(chan int64, 1)
			for b.Loop() {
				from := Now()
				go func() { began <- Now() }()
				if s.sleep == nil {
					took = append(took, <-began-from)
					time.Sleep(200 * time.Microsecond)
					continue
				}
				s.sleep(from + 200_000)
				took = append(took, <-began-from)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
		})
	}
}

// A sleeper sleeps until its instant or until it is woken; one that was woken before does
// not sleep.
func TestSleeperIsWoken(t *testing.T) {
	var s Sleeper
	until := Now() + int64(2*time.Millisecond)
	for Now() < until { // a signal may end a sleep
		s.SleepUntilHandingOver(until)
	}
	if s.Woken() {
		t.Error("woken, and nobody called")
	}
	s.Wake()
	s.SleepUntilHandingOver(math.MaxInt64)
	if !s.Woken() || s.Woken() {
		t.Error("one call is not reported once")
	}
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() {
			for !s.Woken() {
				s.SleepUntilHandingOver(math.MaxInt64)
			}
		})
		for range rand.IntN(2000) {
			runtime.Gosched()
		}
		s.Wake()
		wait.Wait()
	}
}

func TestBootIsPartOfTheDomain(t *testing.T) {
	if id := Boot(); id == "" || !strings.HasPrefix(Domain(), "boot:"+id+" ") {
		t.Errorf("boot %q, domain %q", id, Domain())
	}
}
