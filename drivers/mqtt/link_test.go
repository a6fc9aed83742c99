package mqtt

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// A connection that is made while the link is being closed, after close has
// looked for one, has nobody else to end it, and close waits for its reader.
func TestConnectedWhileClosing(t *testing.T) {
	s := &session{}
	s.life, s.cancel = context.WithCancel(t.Context())
	defer s.cancel()
	for _, closing := range []bool{false, true} {
		l := s.newLink(linkKey{roleProducer, 0}, nil)
		ours, broker := net.Pipe()
		defer broker.Close()
		w := newWire(l, ours, ours, greeting{receiveMaximum: 10}, packets{src: ours})
		l.closing.Store(closing)
		if adopted := l.adopt(w); adopted == closing {
			t.Fatalf("closing %v: adopted %v", closing, adopted)
		}
		if (l.live() == nil) != closing || w.over() != closing {
			t.Errorf("closing %v: live %v, over %v", closing, l.live() != nil, w.over())
		}
		broker.SetReadDeadline(time.Now())
		if _, err := broker.Read(make([]byte, 1)); errors.Is(err, io.EOF) != closing {
			t.Errorf("closing %v: the broker reads %v", closing, err)
		}
		w.shut(errEnded)
	}
}
