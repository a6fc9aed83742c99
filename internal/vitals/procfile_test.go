package vitals

import "testing"

const (
	statText = "cpu  100 20 30 4000 50 6 7 80 9 1\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n"
	snmpText = "Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: RtoAlgorithm RtoMin RtoMax MaxConn RetransSegs InErrs\nTcp: 1 200 120000 -1 42 7\nUdp: InDatagrams\nUdp: 3\n"
)

func TestCPUTime(t *testing.T) {
	got, ok := parseCPUTime([]byte(statText))
	if want := (cpuTime{busy: 163, idle: 4050, steal: 80}); !ok || got != want {
		t.Errorf("%+v, %v; want %+v", got, ok, want)
	}
	for _, bad := range []string{"", "cpu", "cpu \n", "cpu 1 2 3 4 5 6 7\n", "cpu 1 2 x 4 5 6 7 8\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu 99999999999999999999 2 3 4 5 6 7 8\n"} {
		if got, ok := parseCPUTime([]byte(bad)); ok {
			t.Errorf("%q gives %+v", bad, got)
		}
	}
	if got := (cpuTime{10, 5, 0}).since(cpuTime{4, 6, 0}); got != (cpuTime{6, 0, 0}) {
		t.Errorf("an idle count that went back gives %+v", got)
	}
}

func TestProcessSize(t *testing.T) {
	const tail = " S 1 1 1 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 17 0 300 400000 512 18446744073709551615 1\n"
	for _, name := range []string{"(sixnines)", "(a b) c)", "()"} {
		threads, pages, ok := processSize([]byte("42 " + name + tail))
		if threads != 17 || pages != 512 || !ok {
			t.Errorf("%s: %d threads, %d pages, %v; want 17, 512", name, threads, pages, ok)
		}
	}
	for _, bad := range []string{"", "42 (x", "42 (x) S 1 2 3", "42 (x) S 1 1 1 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 many 0 300 400000 512 1"} {
		if _, _, ok := processSize([]byte(bad)); ok {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestPressureTotal(t *testing.T) {
	if n, ok := pressureTotal([]byte("some avg10=0.14 avg60=2.52 avg300=1.78 total=11980816\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n")); n != 11980816 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
	for _, bad := range []string{"", "some\n", "some avg10=0.14\n", "full total=5\n", "some total=x\n"} {
		if _, ok := pressureTotal([]byte(bad)); ok {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestSNMPColumn(t *testing.T) {
	for _, c := range []struct {
		protocol, name string
		want           uint64
		ok             bool
	}{
		{"Tcp:", "RetransSegs", 42, true},
		{"Tcp:", "InErrs", 7, true},
		{"Tcp:", "MaxConn", 0, false}, // negative
		{"Tcp:", "InDatagrams", 0, false},
		{"Udp:", "InDatagrams", 3, true},
		{"Sctp:", "RetransSegs", 0, false},
	} {
		if n, ok := snmpColumn([]byte(snmpText), c.protocol, c.name); n != c.want || ok != c.ok {
			t.Errorf("%s %s: %d, %v; want %d, %v", c.protocol, c.name, n, ok, c.want, c.ok)
		}
	}
	if _, ok := snmpColumn([]byte("Tcp: RetransSegs\n"), "Tcp:", "RetransSegs"); ok {
		t.Error("names without values were taken")
	}
}

func TestThrottled(t *testing.T) {
	for _, c := range []struct {
		text        string
		periods, ns uint64
		ok          bool
	}{
		{"usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 1500\n", 3, 1_500_000, true},
		{"nr_periods 9\nnr_throttled 3\nthrottled_time 1500\n", 3, 1500, true},
		{"usage_usec 5\nuser_usec 4\n", 0, 0, false}, // a group without a quota
		{"nr_throttled 3\n", 3, 0, false},
		{"nr_throttled_burst 3\n", 0, 0, false},
	} {
		periods, ns, ok := throttled([]byte(c.text))
		if ok != c.ok || ok && (periods != c.periods || ns != c.ns) {
			t.Errorf("%q: %d, %d, %v; want %d, %d, %v", c.text, periods, ns, ok, c.periods, c.ns, c.ok)
		}
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, " 12 x": 12, "18446744073709551615\n": 1<<64 - 1} {
		if n, _, ok := number([]byte(text)); n != want || !ok {
			t.Errorf("%q: %d, %v; want %d", text, n, ok, want)
		}
	}
	for _, bad := range []string{"", " ", "x", "-1", "1x", "18446744073709551616", "99999999999999999999999"} {
		if n, _, ok := number([]byte(bad)); ok {
			t.Errorf("%q gives %d", bad, n)
		}
	}
}

// Whatever the kernel writes, the parsers do not panic.
func FuzzProcFiles(f *testing.F) {
	for _, s := range []string{statText, snmpText, "42 (x) S 1", "some total=1", "nr_throttled 3\nthrottled_usec 1", "Tcp:  \nTcp:  \n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		parseCPUTime(text)
		processSize(text)
		pressureTotal(text)
		throttled(text)
		snmpColumn(text, "Tcp:", "RetransSegs")
		counter(text, "pswpin")
	})
}
