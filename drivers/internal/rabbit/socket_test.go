package rabbit

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

func TestAgreeHeartbeat(t *testing.T) {
	for _, tt := range []struct{ asked, offered, want time.Duration }{
		{0, 0, 0},
		{0, time.Minute, 0},
		{time.Minute, 0, time.Minute},
		{time.Minute, time.Second, time.Second},
		{time.Second, time.Minute, time.Second},
		{1900 * time.Millisecond, time.Minute, time.Second},
		{time.Millisecond, time.Minute, time.Second},
	} {
		var s Socket
		if s.AgreeHeartbeat(tt.asked, tt.offered); s.Heartbeat != tt.want {
			t.Errorf("asked for %v and offered %v: %v, want %v", tt.asked, tt.offered, s.Heartbeat, tt.want)
		}
	}
}

// quad is a frame of four bytes.
func quad([]byte) (int, error) { return 4, nil }

// started returns a socket whose frames say how long they take in seconds, and what is at
// the other end of it.
func started(heartbeat time.Duration) (*Socket, net.Conn) {
	ours, theirs := net.Pipe()
	s := NewSocket(kit.Conn{Conn: ours, Raw: ours}, 1, quad, nil, kit.WriterHook{})
	s.Heartbeat, s.Pulse, s.Bye = heartbeat, []byte("beat"), []byte("bye.")
	s.Start(func(frame []byte) error {
		time.Sleep(time.Duration(binary.BigEndian.Uint32(frame)) * time.Second)
		return nil
	}, func(error) {})
	return s, theirs
}

func TestServerThatFallsSilent(t *testing.T) {
	const interval = 10 * time.Second
	frame := func(seconds byte) []byte { return []byte{0, 0, 0, seconds} }
	for _, tt := range []struct {
		name string
		do   func(server net.Conn) // for 60 s
		last time.Duration         // when the socket ends by itself
	}{
		{"from the beginning", func(net.Conn) { time.Sleep(time.Minute) }, 20 * time.Second},
		{"after a while", func(server net.Conn) {
			for range 3 {
				time.Sleep(9 * time.Second)
				server.Write(frame(0))
			}
			time.Sleep(33 * time.Second)
		}, 50 * time.Second},
		{"never", func(server net.Conn) {
			for range 6 {
				server.Write(frame(0))
				time.Sleep(interval)
			}
		}, 0},
		{"while its frame is dealt with", func(server net.Conn) {
			server.Write(frame(60))
			time.Sleep(time.Minute)
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, server := started(interval)
				beats, begun := 0, time.Now()
				var last time.Duration
				go func() {
					for b := make([]byte, 4); ; beats++ {
						if _, err := io.ReadFull(server, b); err != nil {
							return
						}
					}
				}()
				go func() {
					<-s.Done()
					last = time.Since(begun)
				}()
				tt.do(server)
				synctest.Wait()
				if tt.last == 0 {
					if last != 0 || beats != 11 && beats != 12 { // the last is due as it is stopped
						t.Errorf("it ended after %v and %d heartbeats: %v", last, beats, s.Why(io.EOF))
					}
				} else if last != tt.last {
					t.Errorf("it ended after %v, want %v", last, tt.last)
				}
				s.Kill()
				<-s.Done()
				synctest.Wait()
			})
		})
	}
}

// What ends a socket first is why it ended, whatever comes of it.
func TestSocketEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, server := started(0)
		go func() {
			b := make([]byte, 4)
			io.ReadFull(server, b)
			if string(b) != "bye." {
				t.Errorf("it leaves with %q", b)
			}
			server.Close()
		}()
		s.Close(t.Context())
		<-s.Dead()
		if s.Err() != io.EOF || s.Send([]byte("more")) != io.EOF || s.Why(nil) != nil {
			t.Errorf("it ended with %v", s.Err())
		}
		s, _ = started(0)
		s.Kill()
		<-s.Done()
		if err := s.Send([]byte("more")); !errors.Is(err, ErrClosed) || !errors.Is(err, driver.ErrClosed) {
			t.Errorf("after Kill: %v", err)
		}
	})
}
