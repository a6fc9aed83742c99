package kafka

import (
	"maps"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// What a member could not commit of a partition that it has lost it commits no more: the
// partition's next member may be far ahead.
func TestNothingIsCommittedOfWhatIsLost(t *testing.T) {
	client, err := kgo.NewClient() // no member of a group, so that commits fail
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	told := 0
	c := &consumer{commits: newCommitter(client, 1), session: &session{options: DefaultOptions(),
		Base: &kit.Base{Target: driver.Target{Notify: func(driver.Event) { told++ }}}}}
	for _, r := range []*kgo.Record{{Topic: "t0", Partition: 0}, {Topic: "t0", Partition: 1}, {Topic: "t1"}} {
		c.commits.note(r)
	}
	c.revoked(map[string][]int32{"t0": {0}, "t1": {0}, "t2": {0}})
	if told != 1 {
		t.Errorf("%d failures of a commit were told of", told)
	}
	if len(c.commits.pending) != 1 || !slices.Equal(slices.Collect(maps.Keys(c.commits.pending["t0"])), []int32{1}) {
		t.Errorf("%v are to be committed", c.commits.pending)
	}
}
