package semantics_test

import (
	"testing"

	"sixnines/semantics"
)

// rank writes down how a compares with b.
func rank[L interface{ Compare(L) (int, bool) }](a, b L) string {
	order, known := a.Compare(b)
	switch {
	case !known:
		return "?"
	case order < 0:
		return "<"
	case order > 0:
		return ">"
	}
	return "="
}

func TestLevelsAreRanked(t *testing.T) {
	synchronous := func(copies, confirmed int) semantics.Replication {
		return semantics.Replication{Level: semantics.Synchronous, Copies: copies, Confirmed: confirmed}
	}
	for _, tt := range []struct{ got, want string }{
		{rank(semantics.NotStored, semantics.Memory), "<"},
		{rank(semantics.Memory, semantics.PageCache), "<"},
		{rank(semantics.PageCache, semantics.Synced), "<"},
		{rank(semantics.Synced, semantics.NotStored), ">"},
		{rank(semantics.Synced, semantics.Synced), "="},
		{rank[semantics.Durability](semantics.NotKnown, semantics.Memory), "?"},
		{rank[semantics.Durability](semantics.NotKnown, semantics.NotKnown), "?"},
		{rank(semantics.Durability(""), semantics.Memory), "?"},
		{rank(semantics.Durability("made up"), semantics.Memory), "?"},

		{rank(semantics.AtMostOnce, semantics.AtLeastOnce), "<"},
		{rank(semantics.AtLeastOnce, semantics.ExactlyOnce), "<"},
		{rank(semantics.Unordered, semantics.PerPartition), "<"},
		{rank(semantics.PerPartition, semantics.PerTopic), "<"},

		{rank(semantics.Replication{Level: semantics.OneCopy}, semantics.Replication{Level: semantics.Asynchronous}), "<"},
		{rank(semantics.Replication{Level: semantics.OneCopy}, semantics.Replication{Level: semantics.OneCopy}), "="},
		{rank(semantics.Replication{Level: semantics.Asynchronous, Copies: 5}, synchronous(3, 2)), "<"},
		{rank(semantics.Replication{Level: semantics.Asynchronous, Copies: 2}, semantics.Replication{Level: semantics.Asynchronous, Copies: 3}), "<"},
		{rank(semantics.Replication{Level: semantics.Asynchronous}, semantics.Replication{Level: semantics.Asynchronous, Copies: 3}), "?"},
		{rank(synchronous(3, 2), synchronous(5, 3)), "<"},
		{rank(synchronous(3, 3), synchronous(3, 2)), ">"},
		{rank(synchronous(3, 2), synchronous(3, 2)), "="},
		{rank(synchronous(3, 3), synchronous(5, 2)), "?"},
		{rank(synchronous(0, 0), synchronous(0, 0)), "?"},
		{rank(semantics.Replication{Level: semantics.NotKnown}, semantics.Replication{Level: semantics.NotKnown}), "?"},
		{rank(semantics.Replication{}, synchronous(3, 2)), "?"},
	} {
		if tt.got != tt.want {
			t.Errorf("%+v", tt)
		}
	}
}

func TestClientIsNamed(t *testing.T) {
	for want, c := range map[string]semantics.Client{
		"":                                      {},
		"direct":                                {Kind: semantics.Direct},
		"franz-go 1.20.4":                       {Kind: semantics.Library, Name: "franz-go", Version: "1.20.4"},
		"direct, connections by nats.go 1.52.0": {Kind: semantics.Direct, Name: "nats.go", Version: "1.52.0"},
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
