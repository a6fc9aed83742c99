package drivertest

import (
	"context"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
)

// TestRun tries the suite on a driver without a flaw.
func TestRun(t *testing.T) { Run(t, newFake(t, "").harness()) }

// TestFlaws tries the suite on drivers that break one clause each, and wants
// the check of that clause to fail.
func TestFlaws(t *testing.T) {
	for flaw, check := range map[string]string{
		"says nothing of delivery":            "semantics are filled",
		"states no level of delivery":         "semantics are filled",
		"makes a level up":                    "semantics are filled",
		"has no level where it batches":       "semantics are filled",
		"confirms more copies than it has":    "semantics are filled",
		"names no client":                     "semantics are filled",
		"names no server":                     "semantics are filled",
		"makes up how refusals are learned":   "semantics are filled",
		"has a library of no version":         "semantics are filled",
		"dials by itself":                     "connections are the engine's",
		"keeps whose a connection is":         "connections are the engine's",
		"keeps logins to itself":              "logins are told",
		"dials with a context of its own":     "logins are told",
		"leaves connections open":             "connections are the engine's",
		"loses":                               "every message arrives once",
		"duplicates":                          "every message arrives once",
		"reorders":                            "order per producer and topic",
		"delivers in parallel":                "consumer of several topics is serial",
		"subscribes by prefix":                "consumer subscribes to its topics only",
		"cuts large payloads":                 "payloads of all sizes",
		"calls too large rejected":            "payload too large",
		"takes any size":                      "payload too large",
		"reads payloads after Done":           "payload is borrowed until Done",
		"reuses the payload during Deliver":   "payload is valid during Deliver",
		"forgets a Done":                      "each token is done exactly once",
		"Done twice":                          "each token is done exactly once",
		"Done with another token":             "each token is done exactly once",
		"Done with unclassified error":        "each token is done exactly once",
		"holds the last message back":         "batches are sent without further calls",
		"Sync proves nothing":                 "Sync is a round trip",
		"delivers to one after the other":     "a slow consumer delays no other",
		"acknowledges when nobody is busy":    "a slow consumer delays no other",
		"gives up who is slow":                "a slow consumer keeps its connection",
		"sends in plain":                      "encrypted",
		"says nothing of tls":                 "encrypted",
		"trusts any certificate":              "certificates are checked",
		"claims what its defaults do not":     "capabilities are real",
		"delivers to one only":                "fan-out",
		"delivers to all of a group":          "groups share",
		"forgets a group":                     "groups and subscribers side by side",
		"forgets the prefix":                  "names begin with the prefix",
		"acknowledges nothing":                "consumers acknowledge",
		"keeps nothing":                       "what is kept can be used",
		"gives late consumers what is new":    "what is kept can be used",
		"gives groups only what is kept":      "what is kept can be used",
		"takes two sessions for one":          "what is kept can be used",
		"empties what existed":                "what is kept can be used",
		"never removes what existed":          "what is kept can be used",
		"gives a group again what it took":    "what is kept can be used",
		"finds what never was":                "what is kept can be used",
		"reads back all but the last":         "what is kept can be read back",
		"removes what it reads back":          "what is kept can be read back",
		"reads back what never was":           "what is kept can be read back",
		"forgets what is consumed":            "what is kept can be read back",
		"says no end of what it reads back":   "what is kept can be read back",
		"reads back one topic of two":         "what is kept can be read back",
		"tells what was ever sent":            "the depth of a queue is right",
		"tells nothing of the last":           "the depth of a queue is right",
		"tells less of what is delivered":     "the depth of a queue is right",
		"tells nobody alone of what is taken": "the depth of a queue is right",
		"acknowledges when closed":            "consumers acknowledge",
		"acknowledges every 64":               "consumers acknowledge",
		"keeps what is left over":             "consumers acknowledge",
		"delivers again what is done":         "consumers acknowledge",
		"answers no requests":                 "capabilities are real",
		"acknowledges in an unknown way":      "capabilities are real",
		"drops headers":                       "headers are carried",
		"keeps headers for all":               "headers are carried",
		"drops keys":                          "keys are carried",
		"reads keys after Done":               "keys are carried",
		"scatters keys":                       "keys are carried",
		"never answers":                       "requests are answered",
		"answers with half":                   "requests are answered",
		"answers nil":                         "nil is no answer",
		"takes any option":                    "unknown option",
		"unclassified error":                  "wrong address",
		"takes any password":                  "wrong password",
		"deaf to its context":                 "Open heeds its context",
		"provisions for ever":                 "Provision heeds its context",
		"sends when closed":                   "closed things refuse work",
		"panics when closed twice":            "closing twice",
		"delivers after Close":                "no Deliver after Consumer.Close",
		"unsubscribes everybody":              "no Deliver after Consumer.Close",
		"done and an error":                   "session closes while busy",
		"unclassified error of Send":          "session closes while busy",
		"hangs in Send after Close":           "session closes while the broker is frozen",
		"waits for the broker to close":       "session closes while the broker is frozen",
		"comes back in silence":               "reconnect after a restart",
		"forgets subscriptions":               "reconnect after a restart",
		"leaves topics":                       "Deprovision leaves nothing",
		"removes what others made":            "Deprovision leaves nothing",
		"leaves a goroutine":                  "closing twice",
	} {
		t.Run(flaw, func(t *testing.T) {
			for _, c := range checks() {
				if c.name != check {
					continue
				}
				h := newFake(t, flaw).harness()
				h.Patience = 250 * time.Millisecond
				if h.Freeze != nil && strings.Contains(check, "frozen") {
					h.Patience = time.Second // the check alone takes more than one
				}
				err := c.try(&h)
				if err == nil {
					t.Errorf("%q passes", check)
				}
				t.Log(err)
				return
			}
			t.Fatalf("there is no check %q", check)
		})
	}
}

// TestNotChecked wants a check that could not be made told from one that was.
func TestNotChecked(t *testing.T) {
	for _, tt := range []struct {
		flaw, check string
		want        bool
	}{
		{"has no Sync", "Sync is a round trip", true},
		{"", "Sync is a round trip", false},
		{"says that it dials by itself", "connections are the engine's", true},
		{"says that it dials by itself", "payload is borrowed when the connection is lost", true},
		{"says that it dials by itself", "every message arrives once", false},
	} {
		h := newFake(t, tt.flaw).harness()
		for _, c := range checks() {
			if c.name != tt.check {
				continue
			}
			if why, err := c.judge(&h); err != nil || (why != "") != tt.want {
				t.Errorf("%q with the flaw %q: not checked because %q, %v", tt.check, tt.flaw, why, err)
			}
		}
	}
}

// TestOptingOut runs nothing that a harness without hooks cannot do.
func TestOptingOut(t *testing.T) {
	h := Harness{}
	for _, c := range checks() {
		why := c.needs(&h)
		switch c.name {
		case "wrong address", "wrong password", "unknown option", "payload too large", "fan-out", "groups share", "requests are answered",
			"session closes while the broker is frozen", "reconnect after a restart", "Deprovision leaves nothing", "consumers acknowledge", "names begin with the prefix",
			"headers are carried", "keys are carried", "what is kept can be used", "what is kept can be read back", "encrypted", "certificates are checked", "a slow consumer keeps its connection":
			if why == "" {
				t.Errorf("%q runs with an empty harness", c.name)
			}
		}
	}
}

// TestAcknowledgingWithoutTheBrokersWord wants what is not acknowledged found
// where the broker cannot tell of it, by what the next of a group gets.
func TestAcknowledgingWithoutTheBrokersWord(t *testing.T) {
	for _, flaw := range []string{"acknowledges nothing", "keeps what is left over"} {
		h := newFake(t, flaw).harness()
		h.Unacked, h.Patience = nil, 250*time.Millisecond
		if err := checkConsumerAck(t.Context(), &h); err == nil || !strings.Contains(err.Error(), "again") {
			t.Errorf("%s: %v", flaw, err)
		}
	}
}

// TestWhatIsMissingIsTold wants deliveries that stop told from messages that are lost.
func TestWhatIsMissingIsTold(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	b := newInbox()
	for _, l := range []letter{{0, 0}, {0, 1}, {7, 0}, {7, 3}, {7, 4}} {
		b.deliver(driver.Message{Payload: l.write(letterSize)})
	}
	var e events
	e.notify(driver.Event{Kind: driver.Disconnected, Detail: "consumer-0"})
	const want = "waited in vain: 5 of 9 messages were delivered; message 1 was the last of producer 0" +
		"; message 4 was the last of producer 7, without 2 before it from 1 on; events: [{disconnected consumer-0 <nil> 0}]"
	if err := e.with(b.filled(over, 9)); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
