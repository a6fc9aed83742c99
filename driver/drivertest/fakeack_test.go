package drivertest

import (
	"strings"

	"sixnines/driver"
)

// fakeGroup names a group and topic in fake.kept.
func fakeGroup(name, group string) string { return name + "/" + group }

// acknowledge notes that m has been delivered, and acknowledges when it is time.
func (c *fakeConsumer) acknowledge(m fakeMessage) {
	f := c.s.f
	c.update(func() {
		c.open = append(c.open, m)
		every := 1
		switch {
		case f.is("acknowledges nothing"), f.is("acknowledges when closed"):
			return
		case c.ack.Mode == driver.AckEvery && f.is("acknowledges every 64"):
			every = 64
		case c.ack.Mode == driver.AckEvery:
			every = c.ack.Every
		}
		if len(c.open) >= every {
			c.settle()
		}
	})
}

func (c *fakeConsumer) settle() {
	c.past = append(c.past, c.open...)
	c.open = nil
}

// inherit takes from a consumer that closes what the next of its group is to
// get. f.mu is held.
func (f *fake) inherit(c *fakeConsumer) {
	c.update(func() {
		if !f.is("acknowledges nothing") && !f.is("keeps what is left over") {
			c.settle()
		}
		left := c.open
		if f.is("delivers again what is done") {
			left = append(left, c.past...)
		}
		if c.group != "" && len(c.names) == 1 {
			name := fakeGroup(c.names[0], c.group)
			f.kept[name] = append(f.kept[name], left...)
		}
		c.open, c.past = nil, nil
	})
}

// bequeath gives a consumer what others of its group have left. f.mu is held.
func (f *fake) bequeath(c *fakeConsumer, name string) {
	for _, m := range f.kept[fakeGroup(name, c.group)] {
		c.put(m)
	}
	delete(f.kept, fakeGroup(name, c.group))
}

// unacked is the harness's hook.
func (f *fake) unacked(run string) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, left := range f.kept {
		if strings.HasPrefix(name, run+"/") && !f.is("delivers again what is done") { // it thinks they are acknowledged
			n += len(left)
		}
	}
	for s := range f.sessions {
		if s.target.Run != run {
			continue
		}
		s.mu.Lock()
		for _, c := range s.consumers {
			c.update(func() { n += len(c.open) })
		}
		s.mu.Unlock()
	}
	return n, nil
}
