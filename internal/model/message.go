package model

// answer is how a send ended.
type answer int

const (
	unanswered answer = iota
	handedOver        // accepted by the client; the load has no acknowledgements
	acknowledged
	nacked
	gaveUp   // an answer that can no longer come
	atOnce   // the client refused it
	unsent   // it was never sent
	canceled // its connection closed before the answer
)

// message is one message of the load and what happened to it.
type message struct {
	due    int64 // ns from the window's start, like all instants
	stream int
	number int64 // in its stream
	size   int64

	sent   int64 // the last instant before the send
	back   int64 // when the send returned
	own    int64 // the generator's own part of the lag
	fault  fault
	answer answer
	at     int64 // when the answer came

	copies []receipt // the copies that consumers got
}

// receipt is a copy of a message at a consumer.
type receipt struct {
	group, consumer int
	begun           int64 // when it was handed to the consumer
	at              int64 // when it, or the reply to it, came
	copy            int   // 0: the first
	whole           bool  // not damaged
	marked          bool  // marked as delivered before
}
