package judge

import (
	"strings"
	"testing"

	"sixnines/result"
	"sixnines/scenario"
)

// No objective on lost messages passes where the broker does not have what it acknowledged, where that
// could not be read, or where nothing was sent.
// Messages that may have been removed and those that were not read are in doubt together.
func TestObjectiveOnLostMessagesInDoubt(t *testing.T) {
	few, err := scenario.ParseObjective("lost_acked < 100")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int64]Outcome{49: Met, 50: Undecided, 60: Undecided} {
		d := Decision{Objective: few}
		d.ofCounter(&result.Run{Counters: result.Counters{Scheduled: 500, Acked: 500}, ReadBack: &result.ReadBack{Outcome: result.ReadBackPartly, Removed: n, Unread: n}}, nil)
		if d.Outcome != want {
			t.Errorf("twice %d in doubt: %s, %s; want %s", n, d.Outcome, d.Text, want)
		}
	}
}

func TestObjectiveOnLostMessages(t *testing.T) {
	none, err := scenario.ParseObjective("lost_acked == 0")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		counters result.Counters
		back     *result.ReadBack
		want     Outcome
		says     string
	}{
		{"all is kept", result.Counters{Scheduled: 100, Acked: 100}, &result.ReadBack{Outcome: result.ReadBackDone, Whole: true, InLog: 100}, Met, "0"},
		{"neither delivered nor kept", result.Counters{Scheduled: 100, Acked: 100}, &result.ReadBack{Outcome: result.ReadBackDone, LostAcked: 3}, Missed, "the count is 3"},
		{"delivered, and gone from the log", result.Counters{Scheduled: 100, Acked: 100}, &result.ReadBack{Outcome: result.ReadBackDone, Whole: true, InLog: 60, NotInLog: 40}, Missed, "40; 40 of them were delivered"},
		{"some delivered, all gone", result.Counters{Scheduled: 100, Acked: 100}, &result.ReadBack{Outcome: result.ReadBackDone, Whole: true, LostAcked: 10, NotInLog: 40}, Missed, "40; 30 of them were delivered"},
		{"could not be read", result.Counters{Scheduled: 100, Acked: 100, Expected: 100, Received: 95, Missing: 5}, &result.ReadBack{Outcome: result.ReadBackFailed, Unread: 5}, Undecided, "5 messages"},
		{"removed by a limit", result.Counters{Scheduled: 100, Acked: 100}, &result.ReadBack{Outcome: result.ReadBackDone, Removed: 5}, Undecided, "removes messages by a limit"},
		{"lost beside what could not be read", result.Counters{Scheduled: 100, Acked: 100}, &result.ReadBack{Outcome: result.ReadBackPartly, LostAcked: 1, Unread: 5}, Missed, "1"},
		{"nothing was sent", result.Counters{}, &result.ReadBack{Outcome: result.ReadBackDone, Whole: true}, Undecided, "nothing was acknowledged"},
		{"nothing was acknowledged", result.Counters{Scheduled: 100, Sent: 100, Nacked: 100, Expected: 100, Missing: 100}, nil, Undecided, "nothing was acknowledged"},
		{"delivered, not read back", result.Counters{Scheduled: 100, Acked: 100, Expected: 100, Received: 100}, nil, Met, "the count is 0"},
		{"undelivered, not read back", result.Counters{Scheduled: 100, Acked: 100, Expected: 100, Received: 60, Missing: 40, Undelivered: 40}, nil, Undecided, "40 messages it is not known"},
		{"overtaken, not read back", result.Counters{Scheduled: 100, Acked: 100, Expected: 100, Received: 60, Missing: 40, LostAcked: 1, Undelivered: 39}, nil, Missed, "the count is 1"},
		{"no consumers, not read back", result.Counters{Scheduled: 100, Acked: 100}, nil, Undecided, "100 messages it is not known"},
		{"undelivered by a broker that keeps nothing", result.Counters{Scheduled: 100, Acked: 100, Expected: 100, Received: 60, Missing: 40, Undelivered: 40},
			&result.ReadBack{Outcome: result.ReadBackNothingKept}, Undecided, "keeps nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decision{Objective: none}
			d.ofCounter(&result.Run{Counters: tt.counters, ReadBack: tt.back}, nil)
			if d.Outcome != tt.want || !strings.Contains(d.Text, tt.says) {
				t.Errorf("%s: %s; want %s, %q", d.Outcome, d.Text, tt.want, tt.says)
			}
		})
	}
}
