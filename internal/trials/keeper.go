package trials

import "fmt"

// Broker is a broker that was started for trials.
type Broker interface {
	fmt.Stringer
	Err() error // why it ended unexpectedly; nil while it runs
	Stop()
}

// Keeper holds a broker from trial to trial, as long as it can serve them. The zero value
// holds none. A Keeper must not be used concurrently.
type Keeper struct {
	broker Broker
	key    string
	why    string                     // why the next trial needs a fresh broker; empty: it does not
	note   func(b Broker, why string) // called for each broker that is started; may be nil
	served bool                       // Get was called since the last trial began
	number int                        // of the broker in Manifest.Brokers, which note sets
}

// Get returns a broker for the key: the current one, if it has that key, still runs and is
// not spoilt; else it stops that one and returns the one that start starts. Two trials have
// the same key if one broker can serve both. An error is that of start.
func (k *Keeper) Get(key string, start func() (Broker, error)) (Broker, error) {
	switch {
	case k.broker == nil && k.why == "":
		k.why = "the first"
	case k.broker == nil, k.why != "":
	case k.broker.Err() != nil:
		k.why = "the one before ended unexpectedly"
	case k.key != key:
		k.why = "the one before has other settings"
	default:
		k.served = true
		return k.broker, nil
	}
	why := k.why
	k.stop()
	b, err := start()
	if err != nil {
		k.why = why
		return nil, err
	}
	k.broker, k.key, k.why, k.served = b, key, "", true
	if k.note != nil {
		k.note(b, why)
	}
	return b, nil
}

// Spoil says why the broker must not serve another trial. The broker runs until the next
// call of Get or Stop.
func (k *Keeper) Spoil(why string) {
	if k.broker != nil {
		k.why = why
	}
}

// Stop stops the broker, if one runs; why is the reason noted for the start of the next
// one.
func (k *Keeper) Stop(why string) {
	if k.broker != nil {
		k.stop()
		k.why = why
	}
}

func (k *Keeper) stop() {
	if k.broker != nil {
		k.broker.Stop()
	}
	k.broker, k.why = nil, ""
}
