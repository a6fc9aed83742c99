package readback

import (
	"context"
	"errors"
	"time"

	"sixnines/driver"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/result"
)

// asking is how long asking for the copies of a place may take: one whose server is away does not
// answer.
const asking = 10 * time.Second

// replica is a copy of a place.
type replica struct {
	driver.Replica
	// has are the messages that it has, by stream, and lacks those of its partitions that it does not
	// have, where it has named its ends.
	has, lacks []*integrity.Ledger
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
	all, err := of.Replicas(ctx, p.Place)
	if p.noReplicas = err; err != nil {
		return
	}
	for _, x := range all {
		r := &replica{Replica: x, has: make([]*integrity.Ledger, len(b.streams)), lacks: make([]*integrity.Ledger, len(b.streams))}
		r.result = result.ReadReplica{Name: x.Name, Leader: x.Leader, Answer: result.ReplicaAnswer(x.Answer)}
		if x.Answer == driver.ReplicaLag {
			r.result.Lag = x.Lag
		}
		r.failed(x.Err)
		p.replicas = append(p.replicas, r)
	}
}

// failed notes why the copy could not be asked, unless err is nil.
func (r *replica) failed(err error) {
	if err != nil {
		r.Answer, r.result.Answer, r.result.Error = driver.ReplicaSilent, "", err.Error()
	}
}

// placed ticks off a message that was read from the leader's copy, where r has named its ends. One in a
// partition that r has no copy of is neither there nor missing.
func (r *replica) placed(k driver.Kept, of *stream.Stream, seq uint64) {
	if r.Answer != driver.ReplicaEnds {
		return
	}
	switch end, ok := r.Ends[k.Partition]; {
	case !ok:
	case k.Position < end:
		mark(r.has, of, seq)
	default:
		mark(r.lacks, of, seq)
	}
}

// readReplicas reads the copies of p that can be read, after p itself.
func (b *Back) readReplicas(ctx context.Context, back driver.BackReader, p *place, quiet *time.Timer) {
	for _, r := range p.replicas {
		if r.Answer != driver.ReplicaContents {
			continue
		}
		if r.Leader {
			r.has = p.ledgers
			continue
		}
		quiet.Reset(silence)
		take, over := taking(quiet, func(k driver.Kept) {
			if of, seq, what := b.identify(p, k.Payload); what == measured {
				mark(r.has, of, seq)
			}
		})
		_, err := back.(driver.ReplicaReader).ReadReplica(ctx, p.Place, r.Replica, take)
		over()
		if errors.Is(err, driver.ErrNoTopic) {
			err = nil // it has nothing
		}
		r.failed(err)
	}
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
			case r.Answer == driver.ReplicaContents && read, has(r.lacks, st, seq):
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
