package driver_test

import (
	"testing"

	"sixnines/driver"
)

type adjusted struct {
	Acks string `option:"acks" enum:"none,all"`
}

// Adjust implements driver.Adjuster.
func (o *adjusted) Adjust(c *driver.Capabilities) {
	if o.Acks == "none" {
		c.Ack = driver.AckKindNone
	}
}

// What a driver can do follows from its options before there is a session.
func TestCapabilitiesWithOptions(t *testing.T) {
	e := driver.Entry{Options: &adjusted{Acks: "all"}, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker, Groups: true}}
	for _, tt := range []struct {
		options map[string]any
		want    driver.AckKind
	}{
		{nil, driver.AckKindBroker},
		{map[string]any{"acks": "none"}, driver.AckKindNone},
		{map[string]any{"acks": "some"}, driver.AckKindBroker}, // which Open refuses
	} {
		if got := e.With(tt.options); got.Ack != tt.want || !got.Groups {
			t.Errorf("%v: %+v", tt.options, got)
		}
	}
	if o := e.Options.(*adjusted); o.Acks != "all" {
		t.Errorf("the defaults have become %+v", o)
	}
	e.Options = &struct{}{}
	if got := e.With(map[string]any{"acks": "none"}); got != e.Capabilities {
		t.Errorf("without such options: %+v", got)
	}
}
