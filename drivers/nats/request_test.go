package nats_test

import (
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/nats"
)

// TestNobodyAnswers wants a request without responder reported, and not taken
// for an answer.
func TestNobodyAnswers(t *testing.T) {
	b := startBroker(t, "")
	events := make(chan driver.Event, 1)
	s, err := nats.Entry().Driver.Open(t.Context(), driver.Target{URL: b.url.String(), Run: "test", Notify: func(e driver.Event) { events <- e }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	var replies sessiontest.Counter
	p, err := s.(driver.RequestReplier).Requester(t.Context(), driver.ProducerSpec{Topic: "t0"}, &sessiontest.Counter{}, replies.Deliver)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Send(1, []byte("anybody?")); err != nil {
		t.Fatal(err)
	}
	if e := <-events; e.Kind != driver.AsyncError || !strings.Contains(e.Detail, "no answer from") {
		t.Errorf("got %+v", e)
	}
	if n := replies.Count(); n != 0 {
		t.Errorf("%d replies", n)
	}
}
