package driver

import "context"

// BackReader is implemented by sessions that can read back what the broker keeps of a run's
// messages. A session that reads back provisions nothing and sends nothing: the one that
// sent may have lost its connection for good. It is opened with the same Target.Run and
// options, while what that one provisioned still exists and no consumer is connected.
type BackReader interface {
	// Places returns where the broker keeps the messages of t, each place once. It is called
	// before ReadBack and asks the broker nothing. If the broker keeps nothing of such a
	// topology with these options, the error wraps ErrUnsupported and says why.
	Places(t Topology) ([]Place, error)
	// ReadBack delivers every message that the broker keeps in the place, from its beginning
	// to where it ended when the broker was asked. It removes and acknowledges nothing. The
	// same message may be delivered twice. The error wraps ErrNoTopic if the broker does not
	// have the place, and the messages with it; after any other error, or when ctx is over,
	// it is not known what the broker keeps.
	ReadBack(ctx context.Context, p Place, deliver Deliver) (Reading, error)
}

// Place is where a broker keeps messages of a topic.
type Place struct {
	Topic string
	Group string // whose messages these are; empty: those of all groups and consumers
	// Log says that the place keeps a message whether it was consumed or not, until the run
	// removes it or a limit of the broker is reached. Otherwise it keeps a message until it was
	// consumed.
	Log bool
}

// Reading is what reading a place back found.
type Reading struct {
	Messages int64      // deliveries
	Until    ReadingEnd // what showed that there are no more
	// Removed says that the broker has removed messages from a log, because of a limit or
	// because they were consumed: one that is not there may have been.
	Removed bool
	Copy    string // whose copy was read, in the broker's words, such as "leader"; empty: there is one
}

// ReadingEnd says what showed that a place was read to its end.
type ReadingEnd string

// The values of ReadingEnd.
const (
	ReadToPosition ReadingEnd = "position" // the end that the broker had named
	ReadToCount    ReadingEnd = "count"    // as many messages as the broker had counted
	ReadToSilence  ReadingEnd = "silence"  // no message came for a while: there may be more
)
