package beat

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAgree(t *testing.T) {
	for _, tt := range []struct{ asked, offered, want time.Duration }{
		{0, 0, 0},
		{0, time.Minute, 0},
		{time.Minute, 0, time.Minute},
		{time.Minute, time.Second, time.Second},
		{time.Second, time.Minute, time.Second},
		{1900 * time.Millisecond, time.Minute, time.Second},
		{time.Millisecond, time.Minute, time.Second},
	} {
		if got := Agree(tt.asked, tt.offered); got != tt.want {
			t.Errorf("asked for %v and offered %v: %v, want %v", tt.asked, tt.offered, got, tt.want)
		}
	}
}

func TestServerThatFallsSilent(t *testing.T) {
	const interval = 10 * time.Second
	for _, tt := range []struct {
		name string
		do   func(m *Monitor) // for 60 s
		last time.Duration    // when Watch ends by itself
	}{
		{"from the beginning", func(*Monitor) { time.Sleep(time.Minute) }, 20 * time.Second},
		{"after a while", func(m *Monitor) {
			for range 3 {
				time.Sleep(9 * time.Second)
				m.Came()
				m.Rest()
			}
			time.Sleep(33 * time.Second)
		}, 50 * time.Second},
		{"never", func(m *Monitor) {
			for range 6 {
				m.Came()
				m.Rest()
				time.Sleep(interval)
			}
		}, 0},
		{"while its frame is dealt with", func(m *Monitor) {
			m.Came()
			time.Sleep(time.Minute)
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m Monitor
				stop, ended := make(chan struct{}), make(chan error, 1)
				var last time.Duration
				beats, begun := 0, time.Now()
				go func() {
					err := m.Watch(interval, stop, func() { beats++ })
					last = time.Since(begun)
					ended <- err
				}()
				tt.do(&m)
				close(stop)
				err := <-ended
				if tt.last == 0 {
					if err != nil || beats != 11 && beats != 12 { // the last is due as it is stopped
						t.Errorf("%v after %d heartbeats", err, beats)
					}
				} else if err == nil || last != tt.last {
					t.Errorf("%v after %v, want an error after %v", err, last, tt.last)
				}
			})
		})
	}
}
