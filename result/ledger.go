package result

// Ledger is which messages a process sent and received in an interval, where messages are sent by one process and
// received by another: from the ledgers of all follows what became of each message. Streams and groups have the
// numbers that they have in the whole workload; a stream is one producer's messages to one topic. Sets of
// sequence numbers are compressed bitmaps as text: 64-bit Roaring, base64; empty: no number. Each set has
// the numbers that were new in the interval, and the union over the intervals is the run.
type Ledger struct {
	Sent     []SentNumbers     `json:"sent,omitempty"`
	Received []ReceivedNumbers `json:"received,omitempty"`
	// Groups are the delivery groups of which the process has consumers; in the closing record only.
	Groups []GroupEnd `json:"groups,omitempty"`
	// Lags has the largest lag, ns, of the messages due in a slot of Header.Slot: pairs of slot number and lag.
	// In the closing record only, of slots with a lag.
	Lags [][2]int64 `json:"lags,omitempty"`
	// Damaged is in the closing record only.
	Damaged []DamagedNumbers `json:"damaged,omitempty"`
}

// SentNumbers are the messages of one stream, as their sender knows them.
type SentNumbers struct {
	Stream int    `json:"stream"`
	First  uint64 `json:"first"` // sequence number of the window's first message
	// Taken and Sent count the messages of the window so far: those that have a sequence number, which are First
	// to First + Taken − 1, and those of them that were handed to the client.
	Taken int64 `json:"taken"`
	Sent  int64 `json:"sent"`
	// Latest is when the last of them was handed to the client, ns from the window's start; in the closing record only.
	Latest   int64  `json:"latest,omitempty"`
	Acked    string `json:"acked,omitempty"`    // acknowledged by the broker
	Refused  string `json:"refused,omitempty"`  // refused by the broker
	Rejected string `json:"rejected,omitempty"` // refused by the client at once
	GivenUp  string `json:"given_up,omitempty"` // the client waits for no answer any more
}

// ReceivedNumbers are the messages of one stream that the consumers of one group received, those outside the window
// included.
type ReceivedNumbers struct {
	Group  int    `json:"group"`
	Stream int    `json:"stream"`
	New    string `json:"new,omitempty"`
	// Late are those of the window that came after a later one of the stream to the same consumer and partition.
	Late string `json:"late,omitempty"`
}

// DamagedNumbers are the deliveries of a stream's messages to a group that came with a wrong checksum, and whose envelope
// still says which message they are of.
type DamagedNumbers struct {
	Group  int        `json:"group"`
	Stream int        `json:"stream"`
	Counts [][2]int64 `json:"counts"` // pairs of sequence number and count, in order
}

// GroupEnd is what a process knows of a delivery group when all is over.
type GroupEnd struct {
	Group int `json:"group"`
	// Newest is when its newest measured message came to the process, ns from the window's start; 0: none came.
	Newest int64 `json:"newest,omitempty"`
	// Ways is by how many ways messages come to its consumers in the process, which may overtake each other.
	Ways int `json:"ways"`
	// Unproven says that a message may still come although later ones have overtaken it: by a partition that hangs,
	// or again, because a connection was lost or a consumer received no more.
	Unproven bool `json:"unproven,omitempty"`
	// Proven is the instant, ns from the window's start, before which a message was due that is lost if later ones have
	// overtaken it; 0: there is no such limit, unless all is Unproven.
	Proven int64 `json:"proven_ns,omitempty"`
}
