// Package semantics is the vocabulary in which drivers state, and result files keep, what
// a latency stands on: how durable, how often copied, in which order, how often delivered,
// and by which client. Each is a small set of values that programs compare; what they mean
// for one broker is said beside them in words for people, which no program reads.
package semantics

import (
	"cmp"
	"fmt"
	"slices"
)

// NotKnown is the level of a guarantee that cannot be known: the protocol has no way to
// ask, or the broker does not answer. It is neither weaker nor stronger than another
// level, nor equal to itself.
const NotKnown = "not known"

// Durability is where a message is when the broker has taken it.
type Durability string

// The levels of durability, from the weakest.
const (
	NotStored Durability = "not stored" // consumers that are not connected never get it
	Memory    Durability = "memory"     // lost with the broker's process; snapshots, or a file written later, may have it
	PageCache Durability = "page cache" // survives the process, not the machine; synced now and then, or when the system likes
	Synced    Durability = "synced"     // on disk before it counts as taken
)

// Compare returns -1, 0 or 1 as d is weaker than, as strong as or stronger than other. It
// is false where one of them is not known.
func (d Durability) Compare(other Durability) (int, bool) {
	return ranked(d, other, durabilities())
}

func durabilities() []Durability { return []Durability{NotStored, Memory, PageCache, Synced} }

// Delivery is how often a message reaches a consumer.
type Delivery string

// The levels of delivery, from the weakest. Where the way to the broker and the way from
// it differ, it is the weaker one.
const (
	AtMostOnce  Delivery = "at most once"
	AtLeastOnce Delivery = "at least once"
	ExactlyOnce Delivery = "exactly once"
)

// Compare is that of [Durability.Compare].
func (d Delivery) Compare(other Delivery) (int, bool) { return ranked(d, other, deliveries()) }

func deliveries() []Delivery { return []Delivery{AtMostOnce, AtLeastOnce, ExactlyOnce} }

// Ordering is which messages of one producer come in the order in which they were sent.
type Ordering string

// The levels of ordering, from the weakest.
const (
	Unordered    Ordering = "none"
	PerPartition Ordering = "per partition" // those of one part of a topic, or those that one consumer gets
	PerTopic     Ordering = "per topic"     // all those of a topic
)

// Compare is that of [Durability.Compare].
func (o Ordering) Compare(other Ordering) (int, bool) { return ranked(o, other, orderings()) }

func orderings() []Ordering { return []Ordering{Unordered, PerPartition, PerTopic} }

// Copying is whether copies of a message are waited for before it counts as taken.
type Copying string

// The levels of copying, from the weakest.
const (
	OneCopy      Copying = "one copy"
	Asynchronous Copying = "asynchronous" // copies are made, and not waited for
	Synchronous  Copying = "synchronous"  // more than one node has it
)

func copyings() []Copying { return []Copying{OneCopy, Asynchronous, Synchronous} }

// Replication is how many copies of a message there are.
type Replication struct {
	Level Copying `json:"level"`
	// Copies is how many nodes are to have a message, Confirmed how many have it at least
	// when it counts as taken; 0: not known, or given by Level.
	Copies    int `json:"copies,omitempty"`
	Confirmed int `json:"confirmed,omitempty"`
}

// Compare is that of [Durability.Compare]. Two of one level are compared by their numbers,
// which must all be present and must not disagree.
func (r Replication) Compare(other Replication) (int, bool) {
	order, known := ranked(r.Level, other.Level, copyings())
	if !known || order != 0 || r.Level == OneCopy {
		return order, known
	}
	if r.Copies == 0 || other.Copies == 0 || r.Level == Synchronous && (r.Confirmed == 0 || other.Confirmed == 0) {
		return 0, false
	}
	copies, confirmed := cmp.Compare(r.Copies, other.Copies), cmp.Compare(r.Confirmed, other.Confirmed)
	return cmp.Or(copies, confirmed), copies*confirmed >= 0
}

// Levels are a broker's guarantees with the settings in effect. The zero value of each
// means that nothing was stated, as in the files of older versions.
type Levels struct {
	Durability  Durability  `json:"durability,omitempty"`
	Replication Replication `json:"replication,omitzero"`
	Ordering    Ordering    `json:"ordering,omitempty"`
	Delivery    Delivery    `json:"delivery,omitempty"`
}

// Validate returns an error that names the levels that are not stated, or are none.
func (l Levels) Validate() error {
	for _, x := range []struct {
		name, value string
		known       bool
	}{
		{"durability", string(l.Durability), slices.Contains(durabilities(), l.Durability)},
		{"replication", string(l.Replication.Level), slices.Contains(copyings(), l.Replication.Level)},
		{"ordering", string(l.Ordering), slices.Contains(orderings(), l.Ordering)},
		{"delivery", string(l.Delivery), slices.Contains(deliveries(), l.Delivery)},
	} {
		if !x.known && x.value != NotKnown {
			return fmt.Errorf("%q is no level of %s", x.value, x.name)
		}
	}
	if r := l.Replication; r.Confirmed < 0 || r.Copies < 0 || r.Copies > 0 && r.Confirmed > r.Copies {
		return fmt.Errorf("replication: %d of %d copies are confirmed", r.Confirmed, r.Copies)
	}
	return nil
}

// ranked compares two levels by their places among all.
func ranked[L comparable](a, b L, all []L) (int, bool) {
	i, j := slices.Index(all, a), slices.Index(all, b)
	if i < 0 || j < 0 {
		return 0, false
	}
	return cmp.Compare(i, j), true
}
