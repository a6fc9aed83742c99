package resp

import (
	"testing"
	"time"
)

// What asking a silent server costs does not grow with the messages: on each of 16 connections one in 100 ms
// has a reply, and the command that asks for it another.
func TestSilentServersReplySeldom(t *testing.T) {
	const connections, messages = 16, 2000
	f := newFake(t)
	var pipelines []line
	var began []time.Time // before the first message of each may be asked about
	for range connections {
		began = append(began, time.Now())
		p, _ := f.open(t, Direct, 1, PipelineOptions{Silent: true})
		pipelines = append(pipelines, p)
	}
	f.mu.Lock()
	before := f.answers
	f.mu.Unlock()
	o, token := newOutcomes(), uint64(0)
	for range messages {
		for _, p := range pipelines {
			if token++; p.Send(token, o, publish(), []byte("x")) != nil {
				t.Fatalf("message %d was not sent", token)
			}
		}
	}
	most := 0
	for _, at := range began {
		most += 2 * (1 + int(time.Since(at)/askEvery))
	}
	f.has(connections * messages)
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.answers - before; n < 2*connections || n > most {
		t.Errorf("%d replies to %d messages on %d connections, want 2 on each for each 100 ms, at most %d", n, token, connections, most)
	}
}
