package result

// Action is something that was to happen in the window, as the run's plan has it.
type Action struct {
	Kind    string `json:"kind"`    // as the scenario calls it: "pause"
	Subject string `json:"subject"` // to whom: "consumers"
	// At is when it was to happen, ns from the start of the window of the header that has
	// it. Filled says that it was to happen when all producers were done; At is 0 then.
	At     int64 `json:"at"`
	Filled bool  `json:"filled,omitempty"`
	For    int64 `json:"for,omitempty"` // how long it was to last, ns; 0: it is nothing that lasts
	// Text is the action in the notation of scenarios.
	Text string `json:"text"`
}

// Acted is what an event of an action has beside others.
type Acted struct {
	Number int `json:"number"` // which of Header.Actions of the event's workload, from 1
	// Planned is when it was to happen, or to be over; what was to happen when all producers
	// were done was planned for when they were. Event.At is when it was.
	Planned int64 `json:"planned"`
	Began   int64 `json:"began,omitempty"` // of EventActionOver: when the action had happened
	// The system was asked to do it at Asked or later, to the first of several nodes, and had done it by Done, to all
	// of them: whatever the system itself noted of it lies between. Asked ≤ Event.At ≤ Done. Both are 0 in files of
	// older versions and where it failed.
	Asked int64 `json:"asked,omitempty"`
	Done  int64 `json:"done,omitempty"`
	// Nodes are the broker's nodes to which it happened, by their numbers from 0; empty: to none of these.
	Nodes []int `json:"nodes,omitempty"`
	// Dropped is what was dropped in each direction while it lasted; of EventActionOver.
	Dropped []Dropped `json:"dropped,omitempty"`
	// Network is what an action did to the path between clients and brokers; nil: nothing.
	Network *Network `json:"network,omitempty"`
	// Command is how the command ended by which the action was done or undone, of one that runs commands.
	Command *Command `json:"command,omitempty"`
	// Flips are the bits that were turned over, of an action that damages files.
	Flips []Flip `json:"flips,omitempty"`
}

// ClientsEnd is the end of a direction with the clients, which have no number.
const ClientsEnd = -1

// Dropped is what was dropped in one direction between two ends of the broker's network.
type Dropped struct {
	From    int   `json:"from"` // a node's number from 0, or ClientsEnd
	To      int   `json:"to"`
	Packets int64 `json:"packets"` // as the kernel carries them: several segments of a connection count as one
	Bytes   int64 `json:"bytes"`   // with the headers
}

// Command is how a command of the user's ended. What it was the action's text says.
type Command struct {
	Took   int64  `json:"took"`             // ns, from its start
	Output string `json:"output,omitempty"` // the end of what it wrote, at most 4 KiB
}

// Flip is a bit of a file of the broker's that was turned over.
type Flip struct {
	Node   int    `json:"node"`   // whose file, from 0
	File   string `json:"file"`   // below the node's directory, with slashes
	Offset int64  `json:"offset"` // of the byte in the file
	Bit    int    `json:"bit"`    // in the byte, from 0, the lowest
}
