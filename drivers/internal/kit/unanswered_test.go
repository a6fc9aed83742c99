package kit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// outcomes is what acknowledgements have come to, in order.
type outcomes struct {
	mu  sync.Mutex
	all []string
}

// Done implements driver.Acks.
func (o *outcomes) Done(token uint64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		o.all = append(o.all, fmt.Sprint(token))
	} else {
		o.all = append(o.all, fmt.Sprintf("%d %v", token, err))
	}
}

func (o *outcomes) want(t *testing.T, want ...string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.all, want) {
		t.Errorf("resolved %q, want %q", o.all, want)
	}
	o.all = nil
}

func TestUnanswered(t *testing.T) {
	var acks outcomes
	u := NewUnanswered[bool](1, 0)
	add := func(from, to uint64) {
		for token := from; token <= to; token++ {
			if number, ok := u.Add(&acks, token, token%3 == 0); !ok || number != token {
				t.Fatalf("message %d has number %d, %v", token, number, ok)
			}
		}
	}
	add(1, 9)
	if !u.Settle(2, nil) || u.Settle(2, nil) || u.Settle(10, nil) || u.Settle(0, nil) {
		t.Error("a message is settled once, and only if it is there")
	}
	acks.want(t, "2")
	u.SettleOldest(func(note *bool) bool { return *note }, nil) // the third is one with the first
	acks.want(t, "1", "3")
	refused := errors.New("refused")
	u.SettleTo(5, refused)
	acks.want(t, "4 refused", "5 refused")
	u.Outcomes(func(_, decided bool, err error) error {
		if decided {
			return refused
		}
		return err
	})
	if next := u.Decide(0, func(note *bool) bool { return *note }); next != 7 {
		t.Errorf("the next is %d, want that after the sixth", next)
	}
	u.Settle(6, nil)
	u.Settle(7, nil)
	acks.want(t, "6 refused", "7")
	if u.Withdraw(8) || !u.Withdraw(9) || u.Withdraw(9) {
		t.Error("only the newest message can be withdrawn, and once")
	}
	if number, open := u.Oldest(); number != 8 || open != 1 {
		t.Errorf("the oldest of %d is %d, want 8 alone", open, number)
	}
	empty := u.Empty()
	u.Settle(8, nil)
	acks.want(t, "8")
	select {
	case <-empty:
	default:
		t.Error("nobody is told that nothing is left")
	}
	if u.Empty() != nil {
		t.Error("nothing is left, and somebody has to wait")
	}
	u = NewUnanswered[bool](1, 0)
	add(1, 1000) // more than it has places at first
	u.Settle(500, nil)
	u.SettleTo(999, nil)
	if n := len(acks.all); n != 999 {
		t.Errorf("%d messages resolved, want 999", n)
	}
	acks.all = nil
	u.End(refused)
	acks.want(t, "1000 refused")
	if _, ok := u.Add(&acks, 1, false); ok || !u.Over() {
		t.Error("a message was added after the end")
	}
}

func TestUnansweredRange(t *testing.T) {
	var acks outcomes
	u := NewUnanswered[struct{}](1, 0)
	for token := range uint64(200) {
		u.Add(&acks, token+1, struct{}{})
	}
	u.SettleRange(3, 5, nil)
	u.SettleRange(4, 6, nil)
	acks.want(t, "3", "4", "5", "6")
	if !u.Discard(8) || u.Discard(8) || u.Withdraw(8) || u.Discard(6) {
		t.Error("a message is discarded once, and only if it is there")
	}
	if n, ok := u.Add(&acks, 201, struct{}{}); n != 201 || !ok || !u.Discard(201) {
		t.Errorf("message 201 has number %d, %v", n, ok)
	}
	if n, _ := u.Add(&acks, 202, struct{}{}); n != 202 {
		t.Errorf("after one that was discarded comes number %d", n)
	}
	u.SettleRange(2, 300, nil)
	if n := len(acks.all); n != 195 {
		t.Errorf("%d messages resolved, want all but 1, those resolved and those discarded", n)
	}
	if number, open := u.Oldest(); number != 1 || open != 1 {
		t.Errorf("the oldest of %d is %d, want 1 alone", open, number)
	}
}

// What a Send still reads is left to it.
func TestUnansweredMarked(t *testing.T) {
	var acks outcomes
	var sending Mark
	u := NewUnanswered[struct{}](1, 0)
	u.Marks(&sending)
	lost := errors.New("lost")
	first, _ := u.Add(&acks, 1, struct{}{})
	if err := sending.End(first); err != nil {
		t.Error(err)
	}
	second, _ := u.Add(&acks, 2, struct{}{})
	u.End(lost)
	acks.want(t, "1 lost")
	if err := sending.End(second); err != lost || u.Discard(second) {
		t.Errorf("the message that is read ends with %v", err)
	}
	acks.want(t)
}

// A sender waits while as many messages as allowed have no answer, and no longer.
func TestUnansweredWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUnanswered[struct{}](7, 2)
		var acks outcomes
		u.Add(&acks, 1, struct{}{})
		u.Add(&acks, 2, struct{}{})
		if !u.Full() {
			t.Error("it is not full")
		}
		added := make(chan bool)
		for token := uint64(3); token <= 4; token++ {
			go func() {
				_, ok := u.Add(&acks, token, struct{}{})
				added <- ok
			}()
		}
		synctest.Wait()
		select {
		case <-added:
			t.Fatal("a message was added beyond what is allowed")
		default:
		}
		u.Settle(7, nil)
		if !<-added {
			t.Error("there is room, and a message was refused")
		}
		u.End(errors.New("lost"))
		if <-added {
			t.Error("a message was added after the end")
		}
	})
}

// Messages that are not answered do not have places kept for those after them, and can be
// found all the same.
func TestUnansweredStragglers(t *testing.T) {
	var acks outcomes
	u := NewUnanswered[struct{}](1, 0)
	for token := uint64(1); token <= 100_000; token++ {
		if number, ok := u.Add(&acks, token, struct{}{}); number != token || !ok {
			t.Fatalf("message %d has number %d, %v", token, number, ok)
		}
		if token%10_000 != 1 && !u.Settle(token, nil) {
			t.Fatalf("message %d is not there", token)
		}
	}
	if number, open := u.Oldest(); number != 1 || open != 10 || len(u.ring) > 256 || cap(u.late) > 64 {
		t.Errorf("the oldest of %d is %d, of 10 it is 1; %d places and %d aside", open, number, len(u.ring), cap(u.late))
	}
	acks.all = nil
	refused := errors.New("refused")
	u.Outcomes(func(_ struct{}, decided bool, err error) error {
		if decided {
			return refused
		}
		return err
	})
	if next := u.Decide(2, func(*struct{}) bool { return true }); next != 10_002 {
		t.Errorf("the next is %d, want that after the second that is left", next)
	}
	if u.Settle(2, nil) || !u.Settle(10_001, nil) || u.Settle(10_001, nil) || !u.Discard(20_001) || u.Withdraw(30_001) {
		t.Error("a message is settled or discarded once, and only if it is there")
	}
	u.SettleOldest(nil, nil)
	u.SettleRange(30_001, 40_000, nil)
	u.SettleRange(50_001, 60_001, nil)
	acks.want(t, "10001 refused", "1", "30001", "50001", "60001")
	u.SettleTo(70_001, nil)
	u.End(refused)
	acks.want(t, "40001", "70001", "80001 refused", "90001 refused")
}

// Whoever sends, settles and ends: each message that was added is resolved once.
func TestUnansweredOnce(t *testing.T) {
	for range 50 {
		u := NewUnanswered[struct{}](1, 64)
		var acks outcomes
		var busy sync.WaitGroup
		numbers := make(chan uint64, 64)
		var added int
		busy.Go(func() {
			defer close(numbers)
			for token := uint64(1); token <= 500; token++ {
				n, ok := u.Add(&acks, token, struct{}{})
				if !ok {
					return
				}
				added++
				if token%7 == 0 && u.Withdraw(n) {
					added--
					continue
				}
				numbers <- n
			}
		})
		busy.Go(func() {
			for n := range numbers {
				u.Settle(n, nil)
				if n == 300 {
					u.End(errors.New("lost"))
				}
			}
		})
		busy.Wait()
		seen := map[string]bool{}
		for _, o := range acks.all {
			token, _, _ := strings.Cut(o, " ")
			if seen[token] {
				t.Fatalf("message %s was resolved twice", token)
			}
			seen[token] = true
		}
		if len(seen) != added {
			t.Fatalf("%d messages resolved of %d", len(seen), added)
		}
	}
}
