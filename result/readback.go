package result

// ReadBack is what a fresh session found of a load's messages at the broker when the run was
// over and its clients had closed, and so what is known of those that were not delivered.
// Without consumers no message is delivered. Where there is no acknowledgement all outcomes are
// unknown.
//
// Every delivery that is missing is in one of these accounts, and where a load has no
// consumers every message that was sent:
//
//	missing = Kept + LostAcked + Removed + Dropped + KeptUnknown + GoneUnknown + KeptRefused + GoneRefused + Unread
//
// It is so before damaged copies are taken off, whose number is in Counters.Corrupted.
type ReadBack struct {
	Outcome ReadBackOutcome `json:"outcome"`
	// Why says, for people, why nothing or not everything was read; empty: everything was.
	Why string `json:"why,omitempty"`
	// From and To are when the first session was opened for it and when the last place had
	// been read, ns from the window's start.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Places are where messages were read from, at most MostReadPlaces of them; MorePlaces
	// counts the others.
	Places     []ReadPlace `json:"places,omitempty"`
	MorePlaces int64       `json:"more_places,omitempty"`

	// Read counts what was read, and Corrupted, Foreign and Duplicated how many of these were
	// damaged, of no load of this run, or copies. Unmeasured were sent outside the window.
	Read       int64 `json:"read"`
	Corrupted  int64 `json:"corrupted,omitempty"`
	Foreign    int64 `json:"foreign,omitempty"`
	Duplicated int64 `json:"duplicated,omitempty"`
	Unmeasured int64 `json:"unmeasured,omitempty"`

	Kept      int64 `json:"kept"`       // acknowledged and kept
	LostAcked int64 `json:"lost_acked"` // acknowledged and not kept: lost, unless it came damaged with its number
	// Removed were acknowledged and are not kept, in places where the broker removes messages that
	// were not consumed: by a limit, or as it hands them out. Whether they are lost is not known.
	Removed int64 `json:"removed,omitempty"`
	// Dropped were acknowledged and are not kept, because a limit of the broker has removed them as the oldest of
	// their place: by its own count it has removed as many. They are not lost.
	Dropped     int64 `json:"dropped,omitempty"`
	KeptUnknown int64 `json:"kept_unknown"` // not answered and kept: the broker took them
	GoneUnknown int64 `json:"gone_unknown"` // not answered and not kept
	KeptRefused int64 `json:"kept_refused,omitempty"`
	GoneRefused int64 `json:"gone_refused,omitempty"`
	Unread      int64 `json:"unread,omitempty"` // where they would be kept could not be read

	// Whole says that every place is a log from which nothing was removed. Each acknowledged
	// message must then be there, whether it was delivered or not: InLog are, NotInLog are not.
	// Both count messages, however many groups should have received them, and are 0 if Whole
	// is false.
	Whole    bool  `json:"whole,omitempty"`
	InLog    int64 `json:"in_log,omitempty"`
	NotInLog int64 `json:"not_in_log,omitempty"`

	// Lost says which LostAcked counts, and Gone which NotInLog counts, where these are not the
	// same messages; nil: none.
	Lost *Losses `json:"lost,omitempty"`
	Gone *Losses `json:"gone,omitempty"`
}

// MostReadPlaces is the largest number of places that a ReadBack lists.
const MostReadPlaces = 64

// Decided reports whether it is known which acknowledged messages are lost.
func (r *ReadBack) Decided() bool {
	return r != nil && (r.Outcome == ReadBackDone || r.Outcome == ReadBackPartly) && r.Unread == 0 && r.Removed == 0
}

// Doubt is of how many acknowledged messages it is not known whether they are lost: the broker may have
// removed them, or what it keeps of them could not be read.
func (r *ReadBack) Doubt() int64 {
	if r == nil || r.Outcome == ReadBackNothingKept {
		return 0
	}
	return r.Removed + r.Unread
}

// LostAcked returns between which numbers that of the acknowledged messages lies that are lost: as read back,
// and where the broker keeps nothing that could be, as delivered. With neither it may be each of them. What came
// damaged with its number may be one that seems lost, unless a log without damage lacks that.
func (r *Run) LostAcked() (least, most int64) { return lostAcked(r.ReadBack, &r.Counters) }

// LostAcked is [Run.LostAcked] of a summary.
func (s *Summary) LostAcked() (least, most int64) { return lostAcked(s.ReadBack, &s.Counters) }

func lostAcked(b *ReadBack, c *Counters) (least, most int64) {
	switch {
	case b != nil && (b.Outcome == ReadBackDone || b.Outcome == ReadBackPartly):
		least, most = b.LostAcked-c.CorruptedUnplaced, b.LostAcked
		if b.Whole {
			gone := b.NotInLog
			if b.Corrupted > 0 {
				gone -= c.CorruptedUnplaced
			}
			least, most = max(least, gone), max(most, b.NotInLog)
		}
		return max(0, least), most + b.Doubt()
	case c.Expected == 0:
		return c.LostAcked, max(c.LostAcked, c.Acked)
	}
	return c.LostAcked, c.LostAcked + max(c.Undelivered, b.Doubt()) + c.CorruptedUnplaced
}

// ReadBackOutcome says whether what the broker keeps was read.
type ReadBackOutcome string

// The values of ReadBack.Outcome.
const (
	ReadBackDone        ReadBackOutcome = "done"         // all places were read to their ends
	ReadBackPartly      ReadBackOutcome = "partly"       // some were not
	ReadBackFailed      ReadBackOutcome = "failed"       // no place was read
	ReadBackNothingKept ReadBackOutcome = "nothing kept" // the broker keeps nothing that could be read
)

// ReadToSilence is the value of ReadPlace.Until where the broker names no end: a place was read
// until no message came for a while.
const ReadToSilence = "silence"

// ReadPlace is where messages were read from.
type ReadPlace struct {
	Topic string `json:"topic"`
	Group string `json:"group,omitempty"` // whose messages it holds; empty: those of all
	Log   bool   `json:"log,omitempty"`   // it keeps what was consumed
	// Until says what showed the end, as driver.ReadingEnd does; empty: the place could not be
	// read, or was gone.
	Until   string `json:"until,omitempty"`
	Absent  bool   `json:"absent,omitempty"`  // the broker does not have the place any more
	Removed bool   `json:"removed,omitempty"` // the broker has, or may have, removed messages by a limit
	Dropped int64  `json:"dropped,omitempty"` // how many of the oldest, where it counts them
	// Forgotten were read, but could not be remembered: of messages that are not there nothing is known.
	Forgotten int64  `json:"forgotten,omitempty"`
	Copy      string `json:"copy,omitempty"`  // whose copy was read; empty: there is one
	Messages  int64  `json:"messages"`        // read, copies among them
	Error     string `json:"error,omitempty"` // why it could not be read
	// AtMostOnce says that the broker removes a message from it as it hands it out.
	AtMostOnce bool `json:"at_most_once,omitempty"`
	// Replicas are the copies of the place and what each has; empty: see NotAskable.
	Replicas []ReadReplica `json:"replicas,omitempty"`
	// NotAskable says why no copy but the one that was read was asked; empty: Replicas has them, or the
	// place was not read, or the result is of an earlier version.
	NotAskable NotAskable `json:"not_askable,omitempty"`
	// NoReplicas says, for people, why it is not known which copies there are; empty: it is known.
	NoReplicas string `json:"no_replicas,omitempty"`
}

// NotAskable says why a copy, or every single one, could not be asked what it has.
type NotAskable string

// The values of NotAskable.
const (
	NotAskableOneCopy    NotAskable = "one copy"    // no other copy exists
	NotAskableLeaderOnly NotAskable = "leader only" // the broker reads from the leader's copy alone
	NotAskableNoRequest  NotAskable = "no request"  // no request of the protocol names a copy
	NotAskableVersion    NotAskable = "version"     // later versions of the broker can be asked
	NotAskableDriver     NotAskable = "driver"      // the driver does not ask single copies
	NotAskableUnknown    NotAskable = "unknown"     // the broker does not say which copies there are, see NoReplicas
	NotAskableOffline    NotAskable = "offline"     // the broker says that the copy's server is away
	NotAskableNoAnswer   NotAskable = "no answer"   // the copy's server did not answer, or not as it should
)

// ReadReplica is what one copy of a place had when reading back began, beside the copy that was read
// back. Messages are those of the window that were acknowledged.
type ReadReplica struct {
	Name   string        `json:"name"`             // of its server, in the broker's words
	Leader bool          `json:"leader,omitempty"` // it is the copy that was read back, or has such a partition
	Answer ReplicaAnswer `json:"answer,omitempty"` // how it is known; empty: it is not, see NotAskable
	// Has counts messages that the copy has, Behind those that it does not have and the copy that was
	// read back has, and Beyond those of Has that the copy that was read back does not have. They are
	// counted with the answers contents and ends, Beyond with contents.
	Has    int64 `json:"has"`
	Behind int64 `json:"behind"`
	Beyond int64 `json:"beyond,omitempty"`
	// Lag is by how many entries of the broker's log the copy was behind the leader's; with the answer
	// lag.
	Lag int64 `json:"lag,omitempty"`
	// NotAskable and Error say why it could not be asked, the second for people.
	NotAskable NotAskable `json:"not_askable,omitempty"`
	Error      string     `json:"error,omitempty"`
}

// ReplicaAnswer says how it is known what a copy has.
type ReplicaAnswer string

// The values of ReadReplica.Answer.
const (
	ReplicaContents ReplicaAnswer = "contents" // it was read
	ReplicaEnds     ReplicaAnswer = "ends"     // it named where it ends
	ReplicaLag      ReplicaAnswer = "lag"      // how far it is behind is known, and not in messages
)

// Losses are messages that the broker had acknowledged and did not keep. Instants are when
// their acknowledgements came, ns from the window's start.
type Losses struct {
	Count int64 `json:"count"`
	// Undated counts those whose acknowledgement's instant is not known: a run remembers that
	// of its first messages only, see docs/method.md. They are in no slot, and the instants of
	// a range are those of its other messages.
	Undated int64 `json:"undated,omitempty"`
	// First and Last are the instants of the oldest and the newest; both 0: all are Undated.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	// Ranges are the longest ranges of sequence numbers, and the first and the last by their
	// instants: at most MostLostRanges, by producer, topic and number. MoreRanges counts the
	// others.
	Ranges     []LostRange `json:"ranges"`
	MoreRanges int64       `json:"more_ranges,omitempty"`
	// Slots count them by the slot of Header.Slot in which they were acknowledged, in order.
	Slots []LostSlot `json:"slots,omitempty"`
}

// MostLostRanges is the largest number of ranges that Losses lists.
const MostLostRanges = 32

// LostRange is a range of consecutive messages of a producer to a topic that are lost.
type LostRange struct {
	Producer int    `json:"producer"`
	Topic    string `json:"topic"`
	Group    int    `json:"group"` // the delivery group that should have received them, from 0; −1: any
	From     uint64 `json:"from"`  // sequence numbers, as in Exemplar; To is in the range
	To       uint64 `json:"to"`
	// First and Last are the oldest and the newest instant; both 0: not known.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// Count returns the number of messages in the range.
func (r *LostRange) Count() int64 { return int64(r.To - r.From + 1) }

// LostSlot counts lost messages by when they were acknowledged.
type LostSlot struct {
	Slot  int64 `json:"slot"`
	Count int64 `json:"count"`
	First int64 `json:"first"` // the oldest and the newest instant in the slot
	Last  int64 `json:"last"`
}

// Within returns how many of the lost messages were acknowledged in the slots that begin at from or
// later and before to, with the oldest and the newest instant; both 0 if n is 0. l may be nil.
func (l *Losses) Within(from, to int64) (n, first, last int64) {
	if l == nil {
		return 0, 0, 0
	}
	for i := range l.Slots {
		s := &l.Slots[i]
		if at := s.Slot * int64(SlotLength); at < from || at >= to {
			continue
		}
		if n == 0 {
			first, last = s.First, s.Last
		}
		n, first, last = n+s.Count, min(first, s.First), max(last, s.Last)
	}
	return n, first, last
}
