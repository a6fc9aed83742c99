package brokers

import (
	"strings"
	"testing"
)

// Each master has a shard of its own, which its replica shares. Versions that do not know shards find none.
func TestRedisNodesFile(t *testing.T) {
	all := redisMembers(make([]place, 6), []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	for own := range all {
		if text := redisNodesFile(all, own, false); strings.Contains(text, "shard") {
			t.Error(text)
		}
		masters := map[string]int{}
		for k, line := range strings.Split(strings.TrimSpace(redisNodesFile(all, own, true)), "\n")[:6] {
			words := strings.Fields(line)
			at, shard, ok := strings.Cut(words[1], ",,shard-id=")
			if !ok || len(shard) != 40 || strings.ContainsAny(at, ", ") {
				t.Errorf("node %d is at %q", k, words[1])
			}
			if master, is := masters[shard]; !is {
				masters[shard] = k
			} else if words[3] != all[master].id {
				t.Errorf("node %d is in the shard of node %d, and its master is %s", k, master, words[3])
			}
		}
		if len(masters) != 3 {
			t.Errorf("%d shards", len(masters))
		}
	}
}
