package driver

import "context"

// DepthTeller is implemented by sessions that can ask the broker how many messages it
// holds for consumers. Depth is called now and then while messages pass, by one goroutine
// at a time. It must not delay them: it asks on a connection that carries no messages.
type DepthTeller interface {
	// Depth asks how many messages of topic the broker holds for the consumer c, or
	// for its group if it is in one: for any member of a group the answer is the same.
	// c need not be connected (any more). An error that wraps ErrUnsupported says that
	// the depth of such a consumer is never known with these options, so that asking
	// again is of no use; any other error concerns this attempt only.
	Depth(ctx context.Context, topic string, c ConsumerSpec) (Depth, error)
}

// Depth is how many messages a broker holds for a consumer or a group.
type Depth struct {
	// Messages is the number of messages not yet handed out; with Unacknowledged it
	// includes those handed out and not yet acknowledged.
	Messages int64
	// Unacknowledged says that Messages decreases when consumers acknowledge, as a lag
	// behind the committed offset does. Otherwise it decreases when the broker hands
	// messages out, and excludes those on their way. If the broker knows both numbers,
	// the driver returns the one with Unacknowledged.
	Unacknowledged bool
}
