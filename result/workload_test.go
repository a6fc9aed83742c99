package result

import (
	"errors"
	"strings"
	"testing"
)

func TestWorkloadsThatAreNotThere(t *testing.T) {
	const header = `{"type":"header","format":"sixnines-result","version":2,"id":"1","workload":"a"}`
	for _, more := range []string{
		header,
		`{"type":"header","format":"sixnines-result","version":2,"id":"1"}`,
		`{"type":"interval","phase":"measure"}`,
		`{"type":"interval","workload":"b","phase":"measure"}`,
		`{"type":"summary","workload":"b"}`,
		`{"type":"header","format":"sixnines-result","version":2,"id":"2","workload":"b"}`, // of another run
	} {
		if _, err := ReadRun(strings.NewReader(header + "\n" + more + "\n")); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", more, err)
		}
	}
	if _, err := ReadRun(strings.NewReader(strings.Replace(header, `,"workload":"a"`, "", 1) + "\n" + header + "\n")); !errors.Is(err, ErrFormat) {
		t.Errorf("a workload's header after that of a whole run: %v", err)
	}
}
