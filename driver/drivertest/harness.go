// Package drivertest checks that a driver keeps the contract of package driver,
// against a real broker.
//
//	func TestConformance(t *testing.T) {
//		drivertest.Run(t, drivertest.Harness{
//			Entry:  nats.Entry(),
//			Target: driver.Target{URL: broker.URL()},
//			At:     func(address string) driver.Target { return driver.Target{URL: "nats://" + address} },
//			Freeze: broker.Freeze,
//			Thaw:   broker.Thaw,
//		})
//	}
//
// Each clause is a separate subtest. A clause about an ability applies if the driver's
// Capabilities claim the ability; one that needs a hook applies if the harness has it;
// one about an optional interface, if producers implement it. A clause that does not
// apply is skipped with the reason, and Run ends with the list of clauses that were not
// checked, so that gaps are visible.
//
// Nothing here asserts how long something takes, with one exception that the
// contract itself makes: a session with a deadline of one second must be closed
// after one and a half, even when the broker is frozen. Where a call must not
// hang, the limit is a multiple of what the same broker takes for ordinary calls
// at the time.
package drivertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
)

// Harness is a driver under test with its broker. An optional field that is nil or 0
// disables the checks that need it.
type Harness struct {
	Entry driver.Entry
	// Target is where the broker is and how to log in. The suite sets Run, Dial,
	// Batch and Notify.
	Target driver.Target
	// At returns a target like Target at another TCP address, where no server
	// listens or the server never answers. Nil: not opted in.
	At func(address string) driver.Target
	// WrongPassword is a target whose credentials the broker refuses. Nil: not
	// opted in.
	WrongPassword *driver.Target
	// MaxPayload is the largest payload in bytes that the broker is known to
	// carry; 0 means 1 MiB less 4 KiB.
	MaxPayload int
	// TooLarge is a size in bytes that the broker refuses; 0: not opted in.
	TooLarge int
	// Freeze stops the broker's processes, as SIGSTOP does, and returns when they
	// have stopped; Thaw lets them continue. Nil: not opted in.
	Freeze, Thaw func()
	// Restart kills the broker and returns when it runs again at the same
	// address. Nil: not opted in.
	Restart func()
	// Leftovers lists the objects at the broker whose names contain run, while a session has
	// them or has left them.
	// Nil: not opted in.
	Leftovers func(run string) ([]string, error)
	// Encrypted is a target whose broker speaks TLS with a certificate for its
	// address and for no other name. The target names the authority that signed the
	// certificate, which the system must not know. Nil: it is Target, if that has TLS; else not opted in.
	Encrypted *driver.Target
	// Impatient is a target like Target whose client or broker closes a connection
	// that was silent for Silence. Nil: not opted in.
	Impatient *driver.Target
	Silence   time.Duration
	// Given returns what a topic of a run is called at the broker as one of the operator's, and the
	// group g0. Nil: by Entry.Naming.
	Given func(run, topic string) (name, group string)
	// Keyed says that what Given returns is a key, which need not exist.
	Keyed bool
	// Elsewhere is a target of the same account where it may nothing, for RunLimited. Nil: under another prefix.
	Elsewhere *driver.Target
	// Forgets says that the broker forgets the place of a group that has no consumers.
	Forgets bool
	// Unacked counts the messages of topics with run in their names that the broker has
	// delivered, or could have delivered, and that no consumer has acknowledged or
	// committed: with AckEach it must reach 0 once all are delivered. It may lag.
	// Nil: not opted in; then "consumers acknowledge" proves less.
	Unacked func(run string) (int, error)
	// Observe reads a topic of a run with another client than the driver's. next returns
	// the topic's messages, in any order, until ctx ends. Nil: not opted in.
	Observe func(ctx context.Context, run, topic string) (next func() (Observed, error), err error)
	// Leaks are functions that the client library sometimes leaves running for ever,
	// which is a defect of the library. The driver's package comment names them.
	Leaks []string
	// Patience is the longest wait for something that must happen; 0 means 60 s. It
	// only decides how long a failure takes.
	Patience time.Duration
}

// Run runs all checks as subtests of t.
func Run(t *testing.T, h Harness) {
	if h.Encrypted == nil && h.Target.TLS != nil {
		h.Encrypted = &h.Target
	}
	runAll(t, &h, checks())
}

// runAll runs checks as subtests of t.
func runAll(t *testing.T, h *Harness, all []check) {
	var absent []string
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			why, err := c.judge(h)
			switch {
			case err != nil:
				t.Error(err)
			case why != "":
				absent = append(absent, fmt.Sprintf("%s (%s)", c.name, why))
				t.Skipf("NOT CHECKED: %s", why)
			}
		})
	}
	if h.can().ConsumerAck && h.Unacked == nil {
		absent = append(absent, "what the broker holds as not acknowledged (the harness cannot count Unacked)")
	}
	if len(absent) > 0 {
		t.Logf("NOT CHECKED for %s:\n\t%s", h.Entry.Name, strings.Join(absent, "\n\t"))
	}
}

// check is one clause. It is a function that returns an error, so that the
// suite can itself be tried on drivers that break the clause.
type check struct {
	name string
	// needs returns why the check does not apply, empty if it does.
	needs func(h *Harness) string
	run   func(ctx context.Context, h *Harness) error
}

// judge runs the check if it applies. why says why it does not apply, which is known before
// it runs or which the check finds out.
func (c check) judge(h *Harness) (why string, err error) {
	if why := c.needs(h); why != "" {
		return why, nil
	}
	err = c.try(h)
	var not inapplicable
	if errors.As(err, &not) {
		return string(not), nil
	}
	return "", err
}

// inapplicable is the error of a check that finds out, on a session, that it has nothing
// to check. It is not a success: Run reports the clause as not checked.
type inapplicable string

// Error implements error.
func (i inapplicable) Error() string { return string(i) }

// try runs the check with a limit of time, and looks for goroutines that it leaves
// running.
func (c check) try(h *Harness) error {
	before := goroutines()
	ctx, cancel := context.WithTimeout(context.Background(), 4*h.patience())
	defer cancel()
	result := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				result <- fmt.Errorf("panic: %v", p)
			}
		}()
		result <- c.run(ctx, h)
	}()
	select {
	case err := <-result:
		if err != nil {
			return err
		}
	case <-time.After(5 * h.patience()):
		return fmt.Errorf("hangs; its goroutines:\n%s", strings.Join(newSince(before), "\n\n"))
	}
	return noneLeft(before, h.patience(), h.Leaks)
}

func checks() []check {
	return []check{
		{"semantics are filled", always, checkSemantics},
		{"capabilities are real", always, checkCapabilities},
		{"connections are the engine's", dials, checkDialling},
		{"logins are told", dials, checkLogin},
		{"every message arrives once", always, checkDelivery},
		{"order per producer and topic", ordered, checkOrder},
		{"consumer of several topics is serial", always, checkSerial},
		{"consumer subscribes to its topics only", always, checkTopics},
		{"payloads of all sizes", always, checkSizes},
		{"payload too large", tooLarge, checkTooLarge},
		{"payload is borrowed until Done", always, checkBorrowed},
		{"payload is borrowed when the connection is lost", comesBack, checkBorrowedWhenLost},
		{"payload is valid during Deliver", always, checkValidDuringDeliver},
		{"each token is done exactly once", always, checkTokens},
		{"batches are sent without further calls", always, checkBatch},
		{"Sync is a round trip", always, checkSync},
		{"a slow consumer delays no other", always, checkSlow},
		{"a slow consumer keeps its connection", impatient, checkSlowKeepsConnection},
		{"encrypted", encrypted, checkEncrypted},
		{"certificates are checked", certified, checkCertificates},
		{"fan-out", fanOut, checkFanOut},
		{"groups share", groups, checkGroups},
		{"groups and subscribers side by side", groupsAndFanOut, checkGroupsApart},
		{"consumers acknowledge", consumerAck, checkConsumerAck},
		{"headers are carried", headers, checkHeaders},
		{"keys are carried", keys, checkKeys},
		{"what is kept can be used", keeps, checkKept},
		{"what is kept can be read back", readsBack, checkReadBack},
		{"the depth of a queue is right", always, checkDepth},
		{"requests are answered", requestReply, checkRequestReply},
		{"nil is no answer", requestReply, checkNoReply},
		{"unknown option", hasOptions, checkUnknownOption},
		{"wrong address", at, checkWrongAddress},
		{"wrong password", wrongPassword, checkWrongPassword},
		{"Open heeds its context", at, checkOpenCancelled},
		{"Provision heeds its context", always, checkProvisionCancelled},
		{"closed things refuse work", always, checkUseAfterClose},
		{"closing twice", always, checkCloseTwice},
		{"no Deliver after Consumer.Close", always, checkConsumerClose},
		{"session closes while busy", always, checkCloseBusy},
		{"session closes while the broker is frozen", freezes, checkCloseFrozen},
		{"reconnect after a restart", restarts, checkReconnect},
		{"Deprovision leaves nothing", leftovers, checkLeftovers},
		{"names begin with the prefix", named, checkPrefix},
		{"topics of others are used and left", given, checkGiven},
	}
}

// The conditions on which checks apply.

func given(h *Harness) string {
	return unless(h.Entry.Naming.GivenTopic != "", "the driver uses its own topics only")
}

func named(h *Harness) string {
	return unless(h.Entry.Naming.Separator != "", "the driver makes no names")
}

func always(*Harness) string { return "" }

func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}

func dials(h *Harness) string {
	c := h.can()
	return unless(!c.OwnsDialing && !c.Brokerless, "with these options the client dials by itself, or not at all")
}

func comesBack(h *Harness) string {
	if why := dials(h); why != "" {
		return why
	}
	return unless(h.can().Reconnects, "the driver does not claim Reconnects")
}

func ordered(h *Harness) string {
	return unless(h.can().Ordered, "the driver does not claim Ordered")
}

func fanOut(h *Harness) string {
	return unless(h.can().FanOut, "the driver does not claim FanOut")
}

func groups(h *Harness) string {
	return unless(h.can().Groups, "the driver does not claim Groups")
}

func groupsAndFanOut(h *Harness) string {
	if why := groups(h); why != "" {
		return why
	}
	return fanOut(h)
}

func consumerAck(h *Harness) string {
	return unless(h.can().ConsumerAck, "the driver does not claim ConsumerAck")
}

func headers(h *Harness) string {
	return observed(h, h.can().Headers, "Headers")
}

func keys(h *Harness) string {
	return observed(h, h.can().Keys, "Keys")
}

func observed(h *Harness, claimed bool, what string) string {
	if !claimed {
		return "the driver does not claim " + what
	}
	return unless(h.Observe != nil, "the harness cannot Observe")
}

func keeps(h *Harness) string {
	return unless(h.can().Keeps, "the driver does not claim Keeps")
}

func readsBack(h *Harness) string {
	return unless(h.can().ReadsBack, "the driver does not claim ReadsBack")
}

func requestReply(h *Harness) string {
	return unless(h.can().RequestReply, "the driver does not claim RequestReply")
}

func hasOptions(h *Harness) string {
	return unless(h.Entry.Options != nil, "the driver has no options")
}

func tooLarge(h *Harness) string { return unless(h.TooLarge > 0, "the harness has no TooLarge") }

func impatient(h *Harness) string {
	return unless(h.Impatient != nil && h.Silence > 0, "the harness has no Impatient target")
}

func encrypted(h *Harness) string {
	if !h.can().TLS {
		return "the driver does not claim TLS"
	}
	return unless(h.Encrypted != nil, "the harness has no Encrypted target")
}

func certified(h *Harness) string {
	if h.can().Brokerless {
		return "there is no server, whose certificate would be seen when a session opens"
	}
	return encrypted(h)
}

func at(h *Harness) string { return unless(h.At != nil, "the harness has no At") }

func wrongPassword(h *Harness) string {
	return unless(h.WrongPassword != nil, "the harness has no WrongPassword")
}

func freezes(h *Harness) string {
	return unless(h.Freeze != nil && h.Thaw != nil, "the harness cannot Freeze and Thaw the broker")
}

func restarts(h *Harness) string {
	if h.Restart == nil {
		return "the harness cannot Restart the broker"
	}
	return unless(h.can().Reconnects, "the driver does not claim Reconnects")
}

func leftovers(h *Harness) string {
	return unless(h.Leftovers != nil, "the harness cannot list Leftovers")
}

func (h *Harness) patience() time.Duration {
	if h.Patience > 0 {
		return h.Patience
	}
	return time.Minute
}

func (h *Harness) maxPayload() int {
	if h.MaxPayload > 0 {
		return h.MaxPayload
	}
	return 1<<20 - 4<<10
}
