package trials

import "fmt"

// Broker is a broker that was started for trials.
type Broker interface {
	fmt.Stringer
	Err() error // why it ended by itself; nil while it runs
	Stop()
}

// Keeper holds a broker from trial to trial, as long as it is the right one. The
// zero value holds none.
type Keeper struct {
	broker Broker
	key    string
	why    string                     // a fresh one is to be started
	note   func(b Broker, why string) // called for each that is started; may be nil
	served bool                       // it was asked for since the last trial
}

// Get returns the broker of the given key: the one there is, if it has that key
// and nothing speaks against it, else what start starts. Keys are equal where a
// broker can serve both trials.
func (k *Keeper) Get(key string, start func() (Broker, error)) (Broker, error) {
	switch {
	case k.broker == nil && k.why == "":
		k.why = "the first"
	case k.broker == nil, k.why != "":
	case k.broker.Err() != nil:
		k.why = "the one before ended by itself"
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

// Spoil says why the broker must not serve another trial. It goes on until the
// next one is asked for.
func (k *Keeper) Spoil(why string) {
	if k.broker != nil {
		k.why = why
	}
}

// Stop stops the broker, if there is one; why is what the next one is started
// for.
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
