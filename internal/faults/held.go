package faults

import (
	"context"
	"errors"
	"time"

	"sixnines/internal/network"
	"sixnines/result"
)

// Held is a path that has its conditions for a whole run. One goroutine at a time uses it.
type Held struct {
	conditions
	over bool
	err  error // of End
}

// Hold puts the conditions of the path into effect, and returns when handshakes were timed without and with
// them. The caller ends it.
func (p *Path) Hold(ctx context.Context) (*Held, error) {
	h := &Held{conditions: conditions{path: p}}
	err := h.prepare(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		_, err = h.made.Begin()
	}
	if err != nil {
		_, undone := h.End()
		return nil, errors.Join(err, undone)
	}
	h.record.During = p.measure(ctx)
	p.network.held = &h.conditions
	return h, nil
}

// Network returns what the path is like before the load. It implements engine.Path.
func (h *Held) Network() *result.Network {
	now := *h.record
	return &now
}

// End takes the conditions away, and returns what was counted. Handshakes are timed again with the conditions and
// without them. It may be called again. It implements engine.Path.
func (h *Held) End() (*result.Network, error) {
	if h.over {
		return h.record, h.err
	}
	h.over = true
	if h.made != nil {
		ending := *h.record // Network has returned it
		ending.Means = append([]result.NetworkMeans(nil), ending.Means...)
		h.record = &ending
		h.record.During = h.path.measure(context.Background())
		_, h.err = h.Undo(context.Background())
	}
	return h.record, h.err
}

// handshakesTime is how long measuring the path takes at most: as long as it needs for a few handshakes.
func (p *Path) handshakesTime() time.Duration {
	var ways []network.Way
	for _, u := range p.plan.Uses {
		ways = append(ways, u.Way)
	}
	return handshakesTime + fewHandshakes*network.RoundTrip(ways)
}

// fewHandshakes are those that a slow path has time for.
const fewHandshakes = 4
