package driver

// DestinationNamer is implemented by sessions of brokers that place what they keep on nodes of a cluster,
// with a leader among them.
type DestinationNamer interface {
	// Destinations returns what holds the topics' messages now, those of the first topic first and
	// partitions in order. It asks the broker nothing. It may be called from when Provision has returned
	// until Close, at any time.
	Destinations() []Destination
}

// Destination is what has a leader: a partition, a stream or a queue.
type Destination struct {
	Topic     string // one of Topology.Topics; empty: of several
	Name      string // the broker's own of the topic, stream or queue
	Partition int    // from 0, where the broker splits topics
}
