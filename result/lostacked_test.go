package result

import "testing"

// What came damaged with its number may be what seems lost, unless a log without damage lacks that.
func TestLostAckedBesideDamage(t *testing.T) {
	for name, tt := range map[string]struct {
		back        ReadBack
		unplaced    int64
		least, most int64
	}{
		"a queue":                 {ReadBack{LostAcked: 3}, 1, 2, 3},
		"a queue, more damaged":   {ReadBack{LostAcked: 3}, 5, 0, 3},
		"partly read":             {ReadBack{LostAcked: 3, Unread: 4}, 1, 2, 7},
		"a log":                   {ReadBack{Whole: true, LostAcked: 3, NotInLog: 3}, 1, 3, 3},
		"a log with damage":       {ReadBack{Whole: true, LostAcked: 3, NotInLog: 3, Corrupted: 1}, 1, 2, 3},
		"a log lacks more":        {ReadBack{Whole: true, LostAcked: 3, NotInLog: 9, Corrupted: 1}, 1, 8, 9},
		"none came damaged":       {ReadBack{LostAcked: 3}, 0, 3, 3},
		"not in the log, damaged": {ReadBack{Whole: true, NotInLog: 1, Corrupted: 1}, 1, 0, 1},
	} {
		tt.back.Outcome = ReadBackDone
		s := Summary{ReadBack: &tt.back, Counters: Counters{Expected: 10, CorruptedUnplaced: tt.unplaced}}
		if least, most := s.LostAcked(); least != tt.least || most != tt.most {
			t.Errorf("%s: %d to %d, want %d to %d", name, least, most, tt.least, tt.most)
		}
	}
}
