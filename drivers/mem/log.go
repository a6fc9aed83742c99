package mem

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"sixnines/driver"
)

// log is what a topic keeps of the messages that it has taken.
type log struct {
	mu  sync.Mutex
	all [][]byte
}

// add keeps a copy of a message; l is nil where nothing is kept.
func (l *log) add(payload []byte) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, slices.Clone(payload))
}

// Places implements driver.BackReader.
func (s *session) Places(t driver.Topology) (all []driver.Place, err error) {
	if !s.options.Keep {
		return nil, fmt.Errorf("mem: read back: %w: nothing is kept; add the option keep: true", driver.ErrUnsupported)
	}
	for _, topic := range t.Topics {
		all = append(all, driver.Place{Topic: topic, Log: true})
	}
	return all, nil
}

// ReadBack implements driver.BackReader.
func (s *session) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	found := driver.Reading{Until: driver.ReadToPosition}
	if err := s.reach(ctx, "read back"); err != nil {
		return found, err
	}
	topics, err := s.topics([]string{p.Topic})
	if err != nil {
		return found, err
	}
	l := topics[0].log
	if l == nil {
		return found, nil
	}
	l.mu.Lock()
	all := slices.Clone(l.all)
	l.mu.Unlock()
	for _, payload := range all {
		found.Messages++
		take(driver.Kept{Payload: payload})
	}
	return found, nil
}
