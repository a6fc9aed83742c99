package all_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/drivers/all"
)

// Everything about a driver that can be known before connecting is there.
func TestEntriesAreComplete(t *testing.T) {
	entries := all.Set().Entries()
	if len(entries) == 0 {
		t.Fatal("no drivers")
	}
	for _, e := range entries {
		if e.Summary == "" || e.DefaultURL == "" && !e.Capabilities.Brokerless || e.Capabilities.Ack == "" {
			t.Errorf("%s: an entry with gaps: %+v", e.Name, e)
		}
		for _, o := range driver.DescribeOptions(e.Options) {
			if o.Doc == "" {
				t.Errorf("%s: option %s is not documented", e.Name, o.Name)
			}
		}
	}
}

func TestSetsShareNothing(t *testing.T) {
	a, _ := all.Set().Lookup("mem")
	b, _ := all.Set().Lookup("mem")
	if a.Driver == b.Driver {
		t.Error("two sets share a broker")
	}
}
