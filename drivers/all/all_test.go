package all_test

import (
	"regexp"
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

// What an option names beside the broker is a property of it, so that an agent of a fleet can refuse it.
func TestOptionsThatNameFilesAndAddressesSaySo(t *testing.T) {
	file := regexp.MustCompile(`(?i)PEM file|file with|credentials file`)
	address := regexp.MustCompile(`(?i)(HTTP|monitoring) address|address of (the server's monitoring|Pulsar's web service)|https?://`)
	inURL := regexp.MustCompile(`[?]([a-z]+)=`)
	for _, e := range all.Set().Entries() {
		for _, o := range driver.DescribeOptions(e.Options) {
			want := ""
			switch {
			case file.MatchString(o.Doc):
				want = driver.NamesFile
			case address.MatchString(o.Doc):
				want = driver.NamesAddress
			}
			if o.Names != want {
				t.Errorf("%s: option %s names %q; its description says %q: %s", e.Name, o.Name, o.Names, want, o.Doc)
			}
			parameter := ""
			if found := inURL.FindStringSubmatch(o.Doc); found != nil {
				parameter = found[1]
			}
			if o.Parameter != parameter {
				t.Errorf("%s: option %s has the parameter %q of the URL; its description says %q: %s", e.Name, o.Name, o.Parameter, parameter, o.Doc)
			}
		}
	}
}
