package driver

import "context"

// BackReader is implemented by sessions that can read back what the broker keeps of a run's
// messages. A session that reads back provisions nothing and sends nothing: the one that
// sent may have lost its connection for good. It is opened with the same Target.Run and
// options, while what that one provisioned still exists and no consumer is connected.
type BackReader interface {
	// Places returns where the broker keeps the messages of t, each place once: one for each
	// topic, or one for each topic and group. It is called before ReadBack and asks the broker nothing. If the broker keeps nothing of such a
	// topology with these options, the error wraps ErrUnsupported and says why.
	Places(t Topology) ([]Place, error)
	// ReadBack gives take every message that the broker keeps in the place, from its beginning
	// to where it ended when the broker was asked. It removes and acknowledges nothing. The
	// same message may be taken twice. The error wraps ErrNoTopic if the broker does not
	// have the place, and the messages with it; after any other error, or when ctx is over,
	// it is not known what the broker keeps.
	ReadBack(ctx context.Context, p Place, take Take) (Reading, error)
}

// ReplicaReader is implemented by BackReaders whose brokers keep several copies of a place and
// tell about single ones.
type ReplicaReader interface {
	// Replicas asks each copy of the place, at the same time where that can be, how far it is. It
	// is called before ReadBack. Where there is one copy it returns none, and likewise where single
	// copies cannot be asked, which Reading.NotAskable says. A copy that does not answer is
	// a Replica with an Err. The error is of asking which copies there are.
	Replicas(ctx context.Context, p Place) ([]Replica, error)
	// ReadReplica does what ReadBack does in a copy that Replicas has said can be read, after ReadBack.
	// It is not called for a copy that ReadBack reads whole.
	ReadReplica(ctx context.Context, p Place, r Replica, take Take) (Reading, error)
}

// Place is where a broker keeps messages of a topic.
type Place struct {
	Topic string
	Group string // whose messages these are; empty: those of all groups and consumers
	// Log says that the place keeps a message whether it was consumed or not, until the run
	// removes it or a limit of the broker is reached. Otherwise it keeps a message until it was
	// consumed.
	Log bool
	// AtMostOnce says that, with the driver's own mode of consumer acknowledgements (AckDefault), a message
	// is removed as it is handed out: one that is neither there nor delivered may have been on its way to a
	// consumer.
	AtMostOnce bool
}

// Kept is a message that a broker keeps.
type Kept struct {
	Payload []byte
	// Partition and Position say where it is, as Replica.Ends does; 0 where that says nothing.
	Partition int
	Position  int64
}

// Take receives what is read back. It is called serially, and not when ReadBack has returned;
// Kept.Payload is valid until Take returns.
type Take func(Kept)

// Reading is what reading a place back found.
type Reading struct {
	Messages int64      // taken
	Until    ReadingEnd // what showed that there are no more
	// Removed says that the broker has, or may have, removed messages because of a limit of its
	// own, such as an age or a length: one that is not there may be one of these.
	Removed bool
	// Dropped is how many messages a limit has removed from a place that keeps messages in the order in which it took
	// them, the oldest first, by the broker's own count; 0: it does not count them, or others may be missing, too.
	Dropped int64
	Copy    string // whose copy was read, in the broker's words, such as "leader"; empty: there is one
	// NotAskable says why no single copy can be asked, where there are several; empty: a ReplicaReader asks
	// them, or nothing is known about that.
	NotAskable NotAskable
}

// ReadingEnd says what showed that a place was read to its end.
type ReadingEnd string

// The values of ReadingEnd.
const (
	ReadToPosition ReadingEnd = "position" // the end that the broker had named
	ReadToCount    ReadingEnd = "count"    // as many messages as the broker had counted
	ReadToSilence  ReadingEnd = "silence"  // no message came for a while: there may be more
)

// Replica is a copy of a place, or of those parts of it that one server has.
type Replica struct {
	Name   string // of the server, in the broker's words
	Leader bool   // it is the copy that ReadBack reads, or has such a partition of the place
	// Partitions are those that it has a copy of; nil: all of the place.
	Partitions []int
	// Partly says that ReadBack reads some of its partitions only, and ReadReplica all of them.
	Partly bool
	// Answer says which of the fields below the copy has answered with.
	Answer ReplicaAnswer
	// Ends are where the copy ends, by partition: it has what Kept.Position says is before that.
	Ends map[int]int64
	// Lag is by how many entries of the broker's own log the copy is behind the leader's.
	Lag int64
	// NotAskable and Err say why it did not answer, the second for people.
	NotAskable NotAskable
	Err        error
}

// NotAskable says why a copy of a place, or every single one, cannot be asked what it has.
type NotAskable string

// The values of NotAskable.
const (
	NotAskableLeaderOnly NotAskable = "leader only" // the broker reads from the leader's copy alone
	NotAskableNoRequest  NotAskable = "no request"  // no request of the protocol names a copy
	NotAskableVersion    NotAskable = "version"     // later versions of the broker can be asked
	NotAskableOffline    NotAskable = "offline"     // the broker says that the copy's server is away
	NotAskableNoAnswer   NotAskable = "no answer"   // the copy's server did not answer, or not as it should
)

// ReplicaAnswer says what a copy told about itself.
type ReplicaAnswer string

// The values of ReplicaAnswer.
const (
	ReplicaSilent   ReplicaAnswer = ""         // nothing, see Replica.NotAskable
	ReplicaContents ReplicaAnswer = "contents" // ReadReplica reads it
	ReplicaEnds     ReplicaAnswer = "ends"     // Replica.Ends
	ReplicaLag      ReplicaAnswer = "lag"      // Replica.Lag
)
