package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/engine/plan"
)

// keyedLoopback is a loopback that notes the keys of its messages.
type keyedLoopback struct {
	loopback
	seen []string
	note bool
}

func (k *keyedLoopback) SendKeyed(token uint64, payload, key []byte) error {
	if k.note {
		k.seen = append(k.seen, string(key))
	}
	return k.Send(token, payload)
}

// keyedRun is loopRun with keys; before is how many messages go out before the window.
func keyedRun(t *testing.T, keys string, before int) (*keyedLoopback, func()) {
	t.Helper()
	ld, direct := loopRunOf(t, driver.AckKindBroker, "size: 256B, keys: '"+keys+"'")
	st := ld.sending.Streams[0]
	k := &keyedLoopback{loopback: *st.Producer.(*loopback), note: true}
	st.Producer = k
	if err := st.SetKeys(ld.Plan); err != nil {
		t.Fatal(err)
	}
	send := sendOne(t, direct)
	st.Begun = false
	for range before {
		if err := ld.sending.SendReadiness(st); err != nil {
			t.Fatal(err)
		}
		st.Next++ // as data before the window
	}
	st.Begin()
	return k, send
}

// The n-th message of the window has the same key whatever came before it, and
// unique keys do not occur before it either.
func TestKeysFollowFromTheSeed(t *testing.T) {
	for _, keys := range []string{"fixed", "unique", "zipf:1.1@100"} {
		var runs [2][]string
		for i, before := range []int{3, 50} {
			k, send := keyedRun(t, keys, before)
			for range 200 {
				send()
			}
			if len(k.seen) != before+200 {
				t.Fatalf("%s: %d of %d messages were sent with a key", keys, len(k.seen), before+200)
			}
			runs[i] = k.seen[before:]
			distinct := slices.Compact(slices.Sorted(slices.Values(k.seen)))
			if all := len(k.seen); keys == "unique" && len(distinct) != all || keys == "fixed" && len(distinct) != 1 {
				t.Errorf("%s: %d different keys in %d messages", keys, len(distinct), all)
			}
		}
		if !slices.Equal(runs[0], runs[1]) {
			t.Errorf("%s: the keys of the window are others if the warm-up is longer", keys)
		}
	}
}

func TestKeysDoNotAllocate(t *testing.T) {
	for _, keys := range []string{"unique", "zipf:1.1@100"} {
		k, send := keyedRun(t, keys, 0)
		k.note = false
		if n := testing.AllocsPerRun(20_000, send); n != 0 {
			t.Errorf("%s: %v allocations a message", keys, n)
		}
	}
}

func TestKeysAndHeadersWhereThereAreNone(t *testing.T) {
	for workload, want := range map[string]string{
		"{keys: unique}":   "messages of driver mem have no keys",
		"{headers: 4x32B}": "messages of driver mem carry no headers",
	} {
		err := Check(parse(t, "workload: "+workload), mem.Entry())
		if !errors.Is(err, plan.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", workload, err)
		}
	}
	// A driver that claims what it does not have.
	e := mem.Entry()
	e.Capabilities.Keys = true
	if _, err := Run(t.Context(), Config{Scenario: parse(t, "workload: {keys: unique}\nphases: {duration: 10ms}"), Entry: e}); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

// besides is a mem whose producers take keys and headers, and note them.
type besides struct {
	broker driver.Driver
	driver.Session
	topology *driver.Topology
	spec     *driver.ProducerSpec
	keys     map[string]int
}

func (b besides) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	var err error
	b.Session, err = b.broker.Open(ctx, t)
	return b, err
}

func (b besides) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	*b.topology = t
	return b.Session.Provision(ctx, t)
}

func (b besides) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	*b.spec = spec
	p, err := b.Session.Producer(ctx, spec, acks)
	return besidesProducer{p, b.keys}, err
}

type besidesProducer struct {
	driver.Producer
	keys map[string]int
}

func (p besidesProducer) SendKeyed(token uint64, payload, key []byte) error {
	p.keys[string(key)]++
	return p.Send(token, payload)
}

// A run hands keys and headers to its driver, and its result names them.
func TestKeysAndHeadersOfARun(t *testing.T) {
	e := mem.Entry()
	b := besides{broker: e.Driver, topology: &driver.Topology{}, spec: &driver.ProducerSpec{}, keys: map[string]int{}}
	e.Driver, e.Capabilities.Keys, e.Capabilities.Headers = b, true, true
	r, err := Run(t.Context(), Config{Scenario: parse(t, "workload: {keys: zipf:1.1@3, key_size: 20B, headers: 'a:b,c:d'}\nphases: {warmup: 0s, duration: 100ms}"), Entry: e})
	if err != nil {
		t.Fatal(err)
	}
	if h := r.Header; h.Keys != "zipf:1.1@3" || h.KeySize != 20 || h.Headers != "a:b,c:d" {
		t.Errorf("the header says keys %q of %d, headers %q", h.Keys, h.KeySize, h.Headers)
	}
	want := []driver.Header{{Name: "a", Value: "b"}, {Name: "c", Value: "d"}}
	if !slices.Equal(b.topology.Headers, want) || !slices.Equal(b.spec.Headers, want) || b.topology.KeySize != 20 || b.spec.KeySize != 20 {
		t.Errorf("the driver was told %+v and %+v", b.topology, b.spec)
	}
	if len(b.keys) != 3 {
		t.Errorf("messages had the keys %v", b.keys)
	}
}
