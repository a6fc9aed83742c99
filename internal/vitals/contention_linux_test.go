package vitals

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func ms(n int64) int64 { return n * int64(time.Millisecond) }

func TestContention(t *testing.T) {
	long := wait{from: ms(20), to: ms(40), longest: ms(15)}
	for _, c := range []struct {
		name string
		used load // over two slow looks of 100 ms, two processors
		wait wait
		want []Pause
	}{
		{"a hog on each processor", load{busy: ms(400), own: ms(20)}, long, []Pause{{Start: ms(20), End: ms(40)}}},
		{"a wait that began before the look", load{busy: ms(400), own: ms(20)}, wait{ms(20), ms(40), ms(35)}, []Pause{{Start: ms(5), End: ms(40)}}},
		{"a look that lasted because the process stood still", load{busy: ms(800), own: ms(20)}, wait{ms(20), ms(500), ms(15)}, []Pause{{Start: ms(460), End: ms(500)}}},
		{"our own load", load{busy: ms(400), own: ms(395)}, long, nil},
		{"our own load with some of others", load{busy: ms(400), own: ms(320)}, wait{ms(20), ms(40), ms(20)}, nil},
		{"half and half", load{busy: ms(400), own: ms(200)}, long, []Pause{{Start: ms(20), End: ms(40)}}},
		{"a quota", load{busy: ms(100), own: ms(30), held: ms(150)}, long, nil},
		{"a quota and more", load{busy: ms(400), own: ms(30), held: ms(5)}, long, []Pause{{Start: ms(20), End: ms(40)}}},
		{"a usual wait", load{busy: ms(400), own: ms(20)}, wait{ms(20), ms(40), ms(1)}, nil},
		{"nobody used so much", load{busy: ms(1)}, long, nil},
		{"our ticks outran theirs", load{busy: ms(20), own: ms(30)}, long, nil},
		{"no tick", load{}, long, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k contention
			k.add(c.wait)
			if diff := cmp.Diff(c.want, k.judge(c.used, nil)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := k.judge(c.used, nil); got != nil {
				t.Errorf("%v is told again", got)
			}
		})
	}
}

// The processor time used is that of the last two slow looks, not of all since the start.
func TestContentionForgets(t *testing.T) {
	var k contention
	others := load{busy: ms(10_000)}
	for range 3 {
		k.judge(others, nil)
	}
	k.add(wait{0, ms(20), ms(15)})
	if got := k.judge(load{busy: others.busy + ms(200), own: ms(200)}, nil); got != nil {
		t.Errorf("%v: the others were there long ago", got)
	}
}

func TestThreadTime(t *testing.T) {
	if got, ok := parseThreadTime([]byte("123 456 7\n")); got != (threadTime{ran: 123, waited: 456}) || !ok {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, bad := range []string{"", "123", "123 \n", "x 1 2", "1 -2 3", "9223372036854775808 1 2"} {
		if got, ok := parseThreadTime([]byte(bad)); ok {
			t.Errorf("%q gives %+v", bad, got)
		}
	}
}

func TestStolen(t *testing.T) {
	for _, c := range []struct {
		d    cpuTime
		want bool
	}{
		{cpuTime{busy: 10, idle: 8, steal: 2}, true},
		{cpuTime{busy: 10, idle: 9, steal: 1}, false},   // small parts over minutes, perhaps
		{cpuTime{busy: 10, idle: 988, steal: 2}, false}, // of a large machine, too little
		{cpuTime{busy: 10, idle: 1000, steal: 6}, true},
		{cpuTime{busy: 10, idle: 10}, false},
	} {
		if got := stolen(c.d); got != c.want {
			t.Errorf("%+v: %v", c.d, got)
		}
	}
}
