package gofast

import (
	"hash/maphash"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// snapshots are the benchmarks of looking at a map while others change it, and of
// matching subscriptions while there are new ones.
func snapshots() []Benchmark {
	return []Benchmark{
		{"snapshot-map", snapshotMap}, {"snapshot-trie", snapshotTrie},
		{"match-locked", matchLocked}, {"match-lock-free", matchLockFree},
	}
}

// entries is how many there are.
const entries = 100_000

// trie is a persistent hash trie: a change makes new nodes on its way and leaves the
// others, so a root is a snapshot. (Prokopec et al., "Concurrent
// Tries with Efficient Non-Blocking Snapshots", PPoPP 2012, has the same in constant
// time, with changes in place between two snapshots.)
type trie struct {
	root atomic.Pointer[node]
	seed maphash.Seed
}

// node is a step of four bits of the hash, or an entry.
type node struct {
	sub   *[16]*node // nil: an entry
	hash  uint64
	key   string
	value int
}

func newTrie() *trie {
	t := &trie{seed: maphash.MakeSeed()}
	t.root.Store(&node{sub: &[16]*node{}})
	return t
}

// set sets a key's value.
func (t *trie) set(key string, value int) {
	entry := &node{hash: maphash.String(t.seed, key), key: key, value: value}
	for {
		root := t.root.Load()
		if t.root.CompareAndSwap(root, root.with(entry, 0)) {
			return
		}
	}
}

// get returns a key's value as it was when the root was taken.
func (t *trie) get(root *node, key string) (int, bool) {
	hash := maphash.String(t.seed, key)
	n := root
	for shift := 0; n != nil && n.sub != nil; shift += 4 {
		n = n.sub[hash>>shift&15]
	}
	if n == nil || n.key != key {
		return 0, false
	}
	return n.value, true
}

// with is the node with an entry more. Of two keys with one hash the later stays: with
// 64 bits that is not to be expected.
func (n *node) with(entry *node, shift int) *node {
	if n == nil || n.sub == nil && n.hash == entry.hash {
		return entry
	}
	var sub [16]*node
	if n.sub == nil {
		sub[n.hash>>shift&15] = n
	} else {
		sub = *n.sub
	}
	i := entry.hash >> shift & 15
	sub[i] = sub[i].with(entry, shift+4)
	return &node{sub: &sub}
}

// keys are n names of entries.
func keys(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = "key-" + strconv.Itoa(i)
	}
	return all
}

// snapshotMap copies a map behind a lock.
func snapshotMap(b *testing.B) {
	var lock sync.RWMutex
	all := map[string]int{}
	for i, key := range keys(entries) {
		all[key] = i
	}
	for b.Loop() {
		lock.RLock()
		copied := maps.Clone(all)
		lock.RUnlock()
		if len(copied) != entries {
			b.Fatal(len(copied))
		}
	}
}

// snapshotTrie takes a trie's root, and changes the trie, which leaves the snapshot.
func snapshotTrie(b *testing.B) {
	t := newTrie()
	names := keys(entries)
	for i, key := range names {
		t.set(key, i)
	}
	i := 0
	for b.Loop() {
		root := t.root.Load()
		t.set(names[i%entries], -1)
		if v, _ := t.get(root, names[i%entries]); v != i && v != -1 {
			b.Fatal(v)
		}
		i++
	}
}

// subscribers is how many subscriptions there are while messages are matched.
const subscribers = 1000

// matchLocked looks subscriptions up under a lock while a share of calls adds one.
func matchLocked(b *testing.B) {
	var lock sync.RWMutex
	all := map[string]int{}
	names := keys(subscribers)
	for i, key := range names {
		all[key] = i
	}
	match(b, names, func(key string) bool {
		lock.RLock()
		defer lock.RUnlock()
		_, ok := all[key]
		return ok
	}, func(key string) {
		lock.Lock()
		defer lock.Unlock()
		all[key] = 1
	})
}

// matchLockFree looks them up in a snapshot.
func matchLockFree(b *testing.B) {
	t := newTrie()
	names := keys(subscribers)
	for i, key := range names {
		t.set(key, i)
	}
	match(b, names, func(key string) bool {
		_, ok := t.get(t.root.Load(), key)
		return ok
	}, func(key string) { t.set(key, 1) })
}

// match has all processors look up names, and set one in a hundred.
func match(b *testing.B, names []string, get func(string) bool, set func(string)) {
	var missed atomic.Int64
	b.ResetTimer() // of what the subscriptions took
	b.RunParallel(func(p *testing.PB) {
		for i := 0; p.Next(); i++ {
			key := names[i%len(names)]
			if i%100 == 0 {
				set(key)
			} else if !get(key) {
				missed.Add(1)
			}
		}
	})
	if n := missed.Load(); n > 0 {
		b.Fatalf("%d were not found", n)
	}
}
