package kafka

import (
	"github.com/twmb/franz-go/pkg/kgo"
)

// partitioner chooses partitions as the options say.
func (s *session) partitioner() kgo.Partitioner {
	several := kgo.UniformBytesPartitioner(64<<10, true, true, nil)
	switch s.options.Partitioner {
	case "sticky":
		several = kgo.StickyKeyPartitioner(nil)
	case "roundrobin":
		several = kgo.RoundRobinPartitioner()
	case "least":
		several = kgo.LeastBackupPartitioner()
	}
	return byTopic{session: s, several: several}
}

// byTopic spares topics of one partition the choice.
type byTopic struct {
	session *session
	several kgo.Partitioner
}

// ForTopic implements kgo.Partitioner.
func (b byTopic) ForTopic(name string) kgo.TopicPartitioner {
	b.session.mu.Lock()
	known := b.session.topics[name]
	b.session.mu.Unlock()
	if known.partitions == 1 {
		return single{}
	}
	return b.several.ForTopic(name)
}

// single is a topic of one partition.
type single struct{}

// RequiresConsistency implements kgo.TopicPartitioner: there is no other
// partition to turn to.
func (single) RequiresConsistency(*kgo.Record) bool { return true }

// Partition implements kgo.TopicPartitioner.
func (single) Partition(*kgo.Record, int) int { return 0 }
