package flow

import (
	"fmt"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/result"
	"sixnines/scenario"
)

// describe is all of a flow in one line.
func describe(f Flow, fanOut int) string {
	ends := []string{"never", "ack", "delivery"}
	words := []string{}
	for _, w := range []struct {
		is   bool
		name string
	}{{f.Acked, "acked"}, {f.Timed, "timed"}, {f.Closed, "closed"}, {f.Delivers, "delivers"}, {f.Replies, "replies"}, {f.Publishes, "publishes"}, {f.Consumes, "consumes"}} {
		if w.is {
			words = append(words, w.name)
		}
	}
	raw := map[result.RawKind]string{result.RawAcked: "acked", result.RawReceived: "received", result.RawReplied: "replied"}
	words = append(words, "| closes "+ends[f.Closes], "sampled "+ends[f.Sampled], "raw "+raw[f.RawAcked]+"/"+raw[f.RawDelivered],
		"| "+string(f.Primary.Metric()), string(f.Main), "|")
	for _, id := range f.Metrics(fanOut) {
		words = append(words, string(id.Metric()))
	}
	return strings.Join(words, " ")
}

// What a load measures follows from its pattern, its loop and what the driver acknowledges, in
// all combinations that a scenario may have.
func TestFlows(t *testing.T) {
	want := expected()
	seen := 0
	for _, pattern := range []scenario.Pattern{scenario.Publish, scenario.Deliver, scenario.RoundTrip, scenario.RequestReply, scenario.Consume} {
		for _, loop := range []string{"open", "closed", "max", "each"} {
			for _, ack := range []driver.AckKind{driver.AckKindNone, driver.AckKindBroker, driver.AckKindReply} {
				if pattern == scenario.Consume && loop != "max" {
					continue // a load that only consumes sends nothing
				}
				w := &scenario.Workload{Pattern: pattern, Loop: scenario.Open, Rate: scenario.PerSecond(1000)}
				switch loop {
				case "closed":
					w.Loop = scenario.Closed
				case "max":
					w.Rate = scenario.MaxRate()
				case "each":
					w.InFlight.Each = 1
				}
				name := fmt.Sprintf("%s %s %s", pattern, loop, ack)
				got := describe(Of(w, ack), 1)
				if seen++; got != want[name] {
					t.Errorf("%q: %q,", name, got)
				}
			}
		}
	}
	if seen != len(want) {
		t.Errorf("%d combinations, and the table has %d", seen, len(want))
	}
}

// If messages go to several groups, the slowest delivery of each is timed as well.
func TestLastDelivery(t *testing.T) {
	w := &scenario.Workload{Pattern: scenario.Deliver, Rate: scenario.PerSecond(1)}
	for fanOut, want := range map[int]bool{1: false, 2: true} {
		f := Of(w, driver.AckKindNone)
		if got := strings.Contains(describe(f, fanOut), string(result.DeliveryLast)); got != want {
			t.Errorf("of %d deliveries the last is timed: %v", fanOut, got)
		}
	}
}

func TestConsumerAck(t *testing.T) {
	for text, want := range map[string]driver.ConsumerAck{"": {}, "none": {Mode: driver.AckNone}, "each": {Mode: driver.AckEach}, "20": {Mode: driver.AckEvery, Every: 20}} {
		if got, err := ConsumerAck(text); got != want || err != nil {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "all"} {
		if got, err := ConsumerAck(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// expected is the flow of each combination of pattern, loop and acknowledgement.
func expected() map[string]string {
	return map[string]string{
		"publish open none":           "timed publishes | closes never sampled never raw acked/received | publish.response publish.service | lag.own lag.blocked",
		"publish open broker":         "acked timed publishes | closes ack sampled ack raw acked/received | publish.response publish.service | lag.own lag.blocked publish.response publish.service",
		"publish open reply":          "acked timed publishes | closes ack sampled ack raw replied/received | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"publish closed none":         "timed closed publishes | closes never sampled never raw acked/received | publish.response publish.service | lag.own lag.blocked",
		"publish closed broker":       "acked timed closed publishes | closes ack sampled ack raw acked/received | publish.response publish.service | lag.own lag.blocked publish.response publish.service",
		"publish closed reply":        "acked timed closed publishes | closes ack sampled ack raw replied/received | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"publish max none":            "publishes | closes never sampled never raw acked/received | publish.response publish.service |",
		"publish max broker":          "acked publishes | closes ack sampled never raw acked/received | publish.response publish.service | publish.service",
		"publish max reply":           "acked publishes | closes ack sampled never raw replied/received | roundtrip.response roundtrip.service | roundtrip.service",
		"publish each none":           "timed publishes | closes never sampled never raw acked/received | publish.response publish.service | lag.own lag.blocked",
		"publish each broker":         "acked timed publishes | closes ack sampled ack raw acked/received | publish.response publish.service | lag.own lag.blocked publish.response publish.service",
		"publish each reply":          "acked timed publishes | closes ack sampled ack raw replied/received | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"deliver open none":           "timed delivers | closes delivery sampled delivery raw acked/received | delivery.response delivery.service | lag.own lag.blocked delivery.response delivery.service",
		"deliver open broker":         "acked timed delivers | closes ack sampled ack raw acked/received | delivery.response delivery.service | lag.own lag.blocked delivery.response delivery.service publish.response publish.service",
		"deliver open reply":          "acked timed delivers | closes ack sampled delivery raw replied/received | delivery.response delivery.service | lag.own lag.blocked delivery.response delivery.service",
		"deliver closed none":         "timed closed delivers | closes delivery sampled delivery raw acked/received | delivery.response delivery.service | lag.own lag.blocked delivery.response delivery.service",
		"deliver closed broker":       "acked timed closed delivers | closes delivery sampled ack raw acked/received | delivery.response delivery.service | lag.own lag.blocked delivery.response delivery.service publish.response publish.service",
		"deliver closed reply":        "acked timed closed delivers | closes delivery sampled delivery raw replied/received | delivery.response delivery.service | lag.own lag.blocked delivery.response delivery.service",
		"deliver max none":            "delivers | closes delivery sampled never raw acked/received | delivery.response delivery.service | delivery.service",
		"deliver max broker":          "acked delivers | closes ack sampled never raw acked/received | delivery.response delivery.service | delivery.service publish.service",
		"deliver max reply":           "acked delivers | closes ack sampled never raw replied/received | delivery.response delivery.service | delivery.service",
		"deliver each none":           "timed delivers | closes delivery sampled delivery raw acked/received | delivery.response delivery.service | lag.own lag.blocked delivery.response delivery.service",
		"deliver each broker":         "acked timed delivers | closes ack sampled ack raw acked/received | delivery.response delivery.service | lag.own lag.blocked delivery.response delivery.service publish.response publish.service",
		"deliver each reply":          "acked timed delivers | closes ack sampled delivery raw replied/received | delivery.response delivery.service | lag.own lag.blocked delivery.response delivery.service",
		"roundtrip open none":         "timed delivers | closes delivery sampled delivery raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"roundtrip open broker":       "acked timed delivers | closes ack sampled ack raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service publish.response publish.service",
		"roundtrip open reply":        "acked timed delivers | closes ack sampled delivery raw replied/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"roundtrip closed none":       "timed closed delivers | closes delivery sampled delivery raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"roundtrip closed broker":     "acked timed closed delivers | closes delivery sampled ack raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service publish.response publish.service",
		"roundtrip closed reply":      "acked timed closed delivers | closes delivery sampled delivery raw replied/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"roundtrip max none":          "delivers | closes delivery sampled never raw acked/replied | roundtrip.response roundtrip.service | roundtrip.service",
		"roundtrip max broker":        "acked delivers | closes ack sampled never raw acked/replied | roundtrip.response roundtrip.service | roundtrip.service publish.service",
		"roundtrip max reply":         "acked delivers | closes ack sampled never raw replied/replied | roundtrip.response roundtrip.service | roundtrip.service",
		"roundtrip each none":         "timed delivers | closes delivery sampled delivery raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"roundtrip each broker":       "acked timed delivers | closes delivery sampled ack raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service publish.response publish.service",
		"roundtrip each reply":        "acked timed delivers | closes delivery sampled delivery raw replied/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"request-reply open none":     "timed delivers replies | closes delivery sampled delivery raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"request-reply open broker":   "acked timed delivers replies | closes delivery sampled ack raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service publish.response publish.service",
		"request-reply open reply":    "acked timed delivers replies | closes delivery sampled delivery raw replied/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"request-reply closed none":   "timed closed delivers replies | closes delivery sampled delivery raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"request-reply closed broker": "acked timed closed delivers replies | closes delivery sampled ack raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service publish.response publish.service",
		"request-reply closed reply":  "acked timed closed delivers replies | closes delivery sampled delivery raw replied/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"request-reply max none":      "delivers replies | closes delivery sampled never raw acked/replied | roundtrip.response roundtrip.service | roundtrip.service",
		"request-reply max broker":    "acked delivers replies | closes delivery sampled never raw acked/replied | roundtrip.response roundtrip.service | roundtrip.service publish.service",
		"request-reply max reply":     "acked delivers replies | closes delivery sampled never raw replied/replied | roundtrip.response roundtrip.service | roundtrip.service",
		"request-reply each none":     "timed delivers replies | closes delivery sampled delivery raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"request-reply each broker":   "acked timed delivers replies | closes delivery sampled ack raw acked/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service publish.response publish.service",
		"request-reply each reply":    "acked timed delivers replies | closes delivery sampled delivery raw replied/replied | roundtrip.response roundtrip.service | lag.own lag.blocked roundtrip.response roundtrip.service",
		"consume max none":            "consumes | closes delivery sampled never raw acked/received | delivery.response delivery.service |",
		"consume max broker":          "acked consumes | closes ack sampled never raw acked/received | delivery.response delivery.service |",
		"consume max reply":           "acked consumes | closes ack sampled never raw replied/received | delivery.response delivery.service |",
	}
}
