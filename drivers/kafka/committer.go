package kafka

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// committer commits the offsets of one consumer and waits for each commit, as a
// program does that must not see a message twice.
type committer struct {
	client *kgo.Client
	group  string // of a consumer that is no member: committed to all the same
	every  int
	count  int // delivered since the last commit was due

	mu      sync.Mutex // the client's goroutine commits when partitions go
	pending map[string]map[int32]kgo.EpochOffset
}

func newCommitter(client *kgo.Client, every int) *committer {
	return &committer{client: client, every: every, pending: map[string]map[int32]kgo.EpochOffset{}}
}

// due counts a record that has been delivered and reports whether it is time to
// commit, the record included.
func (c *committer) due(r *kgo.Record) bool {
	if c.count++; c.count < c.every {
		return false
	}
	c.count = 0
	c.note(r)
	return true
}

// note takes a record and all before it in its partition for delivered.
func (c *committer) note(r *kgo.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.pending[r.Topic]
	if of == nil {
		of = map[int32]kgo.EpochOffset{}
		c.pending[r.Topic] = of
	}
	of[r.Partition] = kgo.EpochOffset{Epoch: r.LeaderEpoch, Offset: r.Offset + 1}
}

// commit commits what has been noted since the last commit.
func (c *committer) commit(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 {
		return nil
	}
	var err error
	if c.group == "" {
		c.client.CommitOffsetsSync(ctx, c.pending, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, failed error) {
			if err = failed; err != nil {
				return
			}
			for _, t := range answer.Topics {
				for _, p := range t.Partitions {
					if err == nil {
						err = kerr.ErrorForCode(p.ErrorCode)
					}
				}
			}
		})
	} else {
		var offsets kadm.Offsets
		for topic, partitions := range c.pending {
			for p, at := range partitions {
				offsets.AddOffset(topic, p, at.Offset, at.Epoch)
			}
		}
		err = kadm.NewClient(c.client).CommitAllOffsets(ctx, c.group, offsets)
	}
	if err == nil {
		clear(c.pending)
	}
	return err
}

// drop forgets what could not be committed of partitions that are another member's now: a
// later commit would set the group back to it.
func (c *committer) drop(gone map[string][]int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for topic, partitions := range gone {
		for _, p := range partitions {
			delete(c.pending[topic], p)
		}
		if len(c.pending[topic]) == 0 {
			delete(c.pending, topic)
		}
	}
}
