package result

// Closing is what the run alone knows when it ends, and no interval tells: the summary
// is computed from it and from the intervals. Instants are ns from the window's start,
// and 0 where there was none such.
type Closing struct {
	End         int64 `json:"window_end"`
	Interrupted bool  `json:"interrupted,omitempty"` // the window was ended before it was over
	Aborted     bool  `json:"aborted,omitempty"`     // the run was ended without a drain
	// Acked, Received and Synced are when the last measured message was acknowledged,
	// when the last one was delivered or replied to, and when the broker had answered a
	// round trip after the last one.
	Acked    int64 `json:"last_acked,omitempty"`
	Received int64 `json:"last_received,omitempty"`
	Synced   int64 `json:"synced,omitempty"`
	// Intervals is how many intervals came before the closing record.
	Intervals int64 `json:"intervals"`
	// GivenUp is when what was not resolved by then was given up.
	GivenUp int64 `json:"given_up"`
	// WarmUp is Throughput.WarmUp.
	WarmUp int64 `json:"warm_up,omitempty"`
	// EarlierFrom and EarlierTo are when the first and the last message came of those
	// that earlier runs had left.
	EarlierFrom int64 `json:"earlier_from,omitempty"`
	EarlierTo   int64 `json:"earlier_to,omitempty"`
	// Left is what of the run is still at the broker, since it could not be removed.
	Left []Leftover `json:"left,omitempty"`
	// Unconsumed counts messages of this run, those outside of the window included, that may still be in topics of the
	// operator's: no consumer of a group had received them when the consumers left, or the load had no
	// consumers. Each counts once for each group.
	Unconsumed int64 `json:"unconsumed,omitempty"`
	// Of the merged result of processes that receive what others send: Twice counts deliveries that two processes
	// received and recorded, of which one is a duplicate, and Unobserved those of which nothing is known,
	// because a process that may have received them was lost.
	Twice      int64 `json:"twice,omitempty"`
	Unobserved int64 `json:"unobserved,omitempty"`
}

// Leftover is something that a run made at the broker and could not remove.
type Leftover struct {
	What string `json:"what"` // in the broker's terms: "topic", "queue", "stream"
	Name string `json:"name"` // at the broker
	Why  string `json:"why"`
	// Class is that of the error, see driver.Classes; empty: it has none.
	Class string `json:"class,omitempty"`
}

// Resolved returns when the last measured message was resolved, or, if nothing shows that,
// given up; ns from the window's start.
func (c *Closing) Resolved() int64 {
	if at := max(c.Acked, c.Received, c.Synced); at > 0 {
		return at
	}
	return c.GivenUp
}
