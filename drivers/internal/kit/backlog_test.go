package kit

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		b := NewBacklog(func(n int) {
			time.Sleep(time.Second)
			got = append(got, n)
		})
		for n := range 5 {
			b.Add(n)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
			t.Errorf("handed over %d", got)
		}
		b.Add(5) // is taken up at once
		synctest.Wait()
		b.Add(6)
		b.Stop()
		b.Add(7)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(got) != 6 {
			t.Errorf("handed over %d, with two after Stop", got)
		}
	})
}

func TestBacklogOfLimitedLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBacklog(func(int) { time.Sleep(time.Second) })
		b.Limit(2)
		begin := time.Now()
		for n := range 4 { // the first is taken up at once, the fourth waits for that
			b.Add(n)
			synctest.Wait()
		}
		if waited := time.Since(begin); waited != time.Second {
			t.Errorf("waited %v", waited)
		}
		go b.Stop()
		for b.Add(5) { // until it is stopped
		}
		time.Sleep(10 * time.Second)
	})
}
