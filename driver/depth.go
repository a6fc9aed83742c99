package driver

import "context"

// DepthTeller is implemented by sessions that can ask the broker how much it holds
// for consumers. Depth is called now and then while messages pass, by one goroutine
// at a time, and must not hold them up: it asks on a connection that carries none.
type DepthTeller interface {
	// Depth asks how many messages of topic the broker holds for the consumer c, or
	// for its group if it is in one: for any member of a group the answer is the same.
	// c need not be connected yet, nor any more. An error that wraps ErrUnsupported
	// says that nobody can tell for such a consumer with these options, and that
	// asking again is of no use; any other is of this attempt.
	Depth(ctx context.Context, topic string, c ConsumerSpec) (Depth, error)
}

// Depth is how many messages a broker holds for a consumer or a group.
type Depth struct {
	// Messages are those that have not been handed out yet, and with Unacknowledged
	// those too that were handed out and are not acknowledged yet.
	Messages int64
	// Unacknowledged says that Messages goes down when consumers acknowledge, such
	// as a lag behind the committed offset; else it goes down when the broker hands
	// messages out, and those on their way are not in it. A broker that can tell both
	// tells the former.
	Unacknowledged bool
}
