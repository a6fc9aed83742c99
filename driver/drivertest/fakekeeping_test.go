package drivertest

import (
	"context"
	"fmt"
	"slices"

	"sixnines/driver"
)

// provision makes topics, or looks for them. f.mu is held.
func (s *fakeSession) provision(t driver.Topology) error {
	s.oldest = t.Existing || t.Late && !s.f.is("gives late consumers what is new")
	for _, topic := range t.Topics {
		name := s.target.Run + "/" + topic
		if t.Existing && !s.f.held[name] && !s.f.is("finds what never was") {
			return fmt.Errorf("fake: %q: %w", name, driver.ErrNoTopic)
		}
		s.f.held[name] = true
		if !t.Keep || s.f.is("keeps nothing") {
			s.created = append(s.created, name)
		}
		if t.Existing && s.f.is("never removes what existed") {
			s.created = nil
		}
		if t.Existing && s.f.is("empties what existed") {
			s.f.logs[name] = nil
		}
	}
	return nil
}

// replay gives a consumer what was sent before it came. f.mu is held.
func (f *fake) replay(c *fakeConsumer, name string) {
	c.base = len(f.logs[name])
	from := 0
	if c.group != "" {
		from = f.places[name+"/"+c.group]
	}
	if f.is("gives a group again what it took") {
		from = 0
	}
	if !c.s.oldest || c.group == "" && f.is("gives groups only what is kept") {
		return
	}
	if s := f.subs[name]; c.group == "" && len(s) > 1 && f.is("takes two sessions for one") {
		return
	}
	c.base = from
	for _, m := range f.logs[name][from:] {
		m.payload = slices.Clone(m.payload)
		c.put(m)
	}
}

// note counts a message as taken.
func (c *fakeConsumer) note() {
	f := c.s.f
	f.mu.Lock()
	defer f.mu.Unlock()
	c.taken++
	if c.group != "" {
		f.places[c.names[0]+"/"+c.group] = c.base + c.taken
	}
}

// Depth implements driver.DepthTeller, for consumers of one topic that are there.
func (s *fakeSession) Depth(_ context.Context, topic string, spec driver.ConsumerSpec) (driver.Depth, error) {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	name := s.target.Run + "/" + topic
	for _, c := range s.f.subs[name] {
		if c.group != spec.Group {
			continue
		}
		n := len(s.f.logs[name]) - c.base
		switch {
		case s.f.is("tells what was ever sent"):
		case s.f.is("tells nothing of the last"):
			n = max(0, n-c.taken-1)
		case s.f.is("tells less of what is delivered"):
			n -= c.taken + int(s.busy.Load())
		case s.f.is("tells nobody alone of what is taken") && c.group == "":
		default:
			n -= c.taken
		}
		return driver.Depth{Messages: int64(n), Unacknowledged: true}, nil
	}
	return driver.Depth{}, fmt.Errorf("fake: depth of %q: %w", name, driver.ErrNotConnected)
}

// Places implements driver.BackReader.
func (s *fakeSession) Places(t driver.Topology) (all []driver.Place, err error) {
	for _, topic := range t.Topics {
		all = append(all, driver.Place{Topic: topic, Log: true})
	}
	if s.f.is("reads back one topic of two") {
		all = all[:1]
	}
	return all, nil
}

// ReadBack implements driver.BackReader.
func (s *fakeSession) ReadBack(_ context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	s.f.mu.Lock()
	name := s.target.Run + "/" + p.Topic
	all := slices.Clone(s.f.logs[name])
	there := s.f.held[name] || s.f.is("reads back what never was")
	if s.f.is("removes what it reads back") {
		s.f.logs[name] = nil
	}
	if s.f.is("forgets what is consumed") {
		for group, taken := range s.f.places {
			if group == name+"/g0" {
				all = all[taken:]
			}
		}
	}
	s.f.mu.Unlock()
	if !there {
		return driver.Reading{}, fmt.Errorf("fake: read %q back: %w", name, driver.ErrNoTopic)
	}
	if s.f.is("reads back all but the last") {
		all = all[:max(0, len(all)-1)]
	}
	for _, m := range all {
		take(driver.Kept{Payload: m.payload})
	}
	found := driver.Reading{Messages: int64(len(all)), Until: driver.ReadToPosition}
	if s.f.is("says no end of what it reads back") {
		found.Until = ""
	}
	return found, nil
}
