package readback

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"sixnines/driver"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/result"
)

// asking is how long asking for the copies of a place may take: one whose server is away does not
// answer.
const asking = 10 * time.Second

// askingOnce is how long one request for them may take: a request that reaches a server as it ends gets no answer.
const askingOnce = 2 * time.Second

// replica is a copy of a place.
type replica struct {
	driver.Replica
	// has are the messages that it has, by stream, and due those of its partitions that the copy has that
	// was read back.
	has, due []*integrity.Ledger
	// result has counts, of acknowledged messages.
	result result.ReadReplica
}

// ask asks which copies of p there are, and how far they are.
func (b *Back) ask(ctx context.Context, back driver.BackReader, p *place) {
	p.replicas, p.noReplicas = nil, nil
	of, ok := back.(driver.ReplicaReader)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	once := func() ([]driver.Replica, error) {
		ctx, cancel := context.WithTimeout(ctx, askingOnce)
		defer cancel()
		return of.Replicas(ctx, p.Place)
	}
	all, err := once()
	for err != nil && !driver.Final(err) { // a cluster that has lost a server may not answer at once, nor every request
		select {
		case <-time.After(firstPause):
			all, err = once()
			continue
		case <-ctx.Done():
		}
		break
	}
	if p.noReplicas = err; err != nil {
		return
	}
	for _, x := range all {
		r := &replica{Replica: x, has: make([]*integrity.Ledger, len(b.streams)), due: make([]*integrity.Ledger, len(b.streams))}
		r.result = result.ReadReplica{Name: x.Name, Leader: x.Leader, Answer: result.ReplicaAnswer(x.Answer)}
		if x.Answer == driver.ReplicaLag {
			r.result.Lag = x.Lag
		}
		r.failed(x.NotAskable, x.Err)
		p.replicas = append(p.replicas, r)
	}
}

// failed notes why the copy could not be asked, unless it could be.
func (r *replica) failed(why driver.NotAskable, err error) {
	if err != nil {
		why, r.result.Error = cmp.Or(why, driver.NotAskableNoAnswer), err.Error()
	}
	if why != "" {
		r.Answer, r.result.Answer, r.result.NotAskable = driver.ReplicaSilent, "", result.NotAskable(why)
	}
}

// notAskable says why no single copy of the place was asked, of one that was read.
func (p *place) notAskable() result.NotAskable {
	switch {
	case !p.read || p.absent || len(p.replicas) > 0:
		return ""
	case p.noReplicas != nil:
		return result.NotAskableUnknown
	case p.reading.Copy == "":
		return result.NotAskableOneCopy
	}
	return result.NotAskable(cmp.Or(p.reading.NotAskable, driver.NotAskable(result.NotAskableDriver)))
}

// placed ticks off a message that was read from the leader's copy: r should have it, and with ends named has
// it or not. One in a partition that r has no copy of is neither there nor missing.
func (r *replica) placed(k driver.Kept, of *stream.Stream, seq uint64) {
	switch r.Answer {
	case driver.ReplicaContents:
		if r.Partitions == nil || slices.Contains(r.Partitions, k.Partition) {
			mark(r.due, of, seq)
		}
	case driver.ReplicaEnds:
		end, ok := r.Ends[k.Partition]
		if ok {
			mark(r.due, of, seq)
		}
		if ok && k.Position < end {
			mark(r.has, of, seq)
		}
	}
}

// readReplicas reads the copies of p that can be read, after p itself, each until it is silent for too long: one
// that does not answer says nothing of the next.
func (b *Back) readReplicas(ctx context.Context, back driver.BackReader, p *place) {
	for _, r := range p.replicas {
		if r.Answer != driver.ReplicaContents {
			continue
		}
		if r.Leader && !r.Partly {
			r.has = p.ledgers
			continue
		}
		b.readReplica(ctx, back.(driver.ReplicaReader), p, r)
	}
}

// readReplica reads one copy of p.
func (b *Back) readReplica(ctx context.Context, back driver.ReplicaReader, p *place, r *replica) {
	ctx, quiet, stop := untilSilent(ctx)
	defer stop()
	take, over := taking(quiet, func(k driver.Kept) {
		if of, seq, what := b.identify(p, k.Payload); what == measured {
			mark(r.has, of, seq)
		}
	})
	_, err := back.ReadReplica(ctx, p.Place, r.Replica, take)
	over()
	if errors.Is(err, driver.ErrNoTopic) {
		err = nil // it has nothing
	}
	if err == nil && forgotten(r.has)+forgotten(r.due) > 0 {
		err = errForgotten
	}
	r.failed("", err)
}

// CountReplicas counts an acknowledged message by the copies that have it.
func (b *Back) CountReplicas(st *stream.Stream, seq uint64) {
	for _, p := range b.places {
		if len(p.replicas) == 0 || p.topic != st.Plan.Topic {
			continue
		}
		read := has(p.ledgers, st, seq)
		for _, r := range p.replicas {
			switch {
			case r.Answer != driver.ReplicaContents && r.Answer != driver.ReplicaEnds:
			case has(r.has, st, seq):
				if r.result.Has++; !read {
					r.result.Beyond++
				}
			case has(r.due, st, seq):
				r.result.Behind++
			}
		}
	}
}

// CloseReplicas completes the record with what the copies have.
func (b *Back) CloseReplicas() {
	for i := range b.found.Places {
		for _, r := range b.places[i].replicas {
			b.found.Places[i].Replicas = append(b.found.Places[i].Replicas, r.result)
		}
	}
}
