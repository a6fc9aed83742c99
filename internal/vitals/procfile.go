package vitals

import (
	"bytes"
	"math"
)

// ticksPerSecond is the unit of /proc/stat: USER_HZ, 100 on every architecture
// that Go runs on.
const ticksPerSecond = 100

// cpuTime is CPU time in ticks, summed over all processors.
type cpuTime struct{ busy, idle, steal uint64 }

func (c cpuTime) total() uint64 { return c.busy + c.idle + c.steal }

func (c cpuTime) since(before cpuTime) cpuTime {
	return cpuTime{since(c.busy, before.busy), since(c.idle, before.idle), since(c.steal, before.steal)}
}

// parseCPUTime reads the first line of /proc/stat: user, nice, system, idle,
// iowait, irq, softirq, steal. The guest columns after them are contained in
// user and nice already.
func parseCPUTime(text []byte) (cpuTime, bool) {
	rest, ok := line(text, "cpu")
	if !ok {
		return cpuTime{}, false
	}
	var column [8]uint64
	for i := range column {
		if column[i], rest, ok = number(rest); !ok {
			return cpuTime{}, false
		}
	}
	return cpuTime{
		busy:  column[0] + column[1] + column[2] + column[5] + column[6],
		idle:  column[3] + column[4],
		steal: column[7],
	}, true
}

// processSize takes the threads (column 20) and resident pages (24) from
// /proc/self/stat. The name in column 2 may hold blanks and brackets.
func processSize(text []byte) (threads, pages uint64, ok bool) {
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return 0, 0, false
	}
	rest, column := text[end+1:], 2
	for {
		rest = bytes.TrimLeft(rest, " ")
		if column++; column == 20 {
			if threads, _, ok = number(rest); !ok {
				return 0, 0, false
			}
		}
		if column == 24 {
			pages, _, ok = number(rest)
			return threads, pages, ok
		}
		next := bytes.IndexByte(rest, ' ')
		if next < 0 {
			return 0, 0, false
		}
		rest = rest[next:]
	}
}

// pressureTotal takes the microseconds of the "some" line of a PSI file.
func pressureTotal(text []byte) (uint64, bool) {
	some, ok := line(text, "some")
	if !ok {
		return 0, false
	}
	key := []byte("total=")
	i := bytes.Index(some, key)
	if i < 0 {
		return 0, false
	}
	n, _, ok := number(some[i+len(key):])
	return n, ok
}

// snmpColumn takes one column of /proc/net/snmp, where a protocol has a line of
// names and, after it, one of values.
func snmpColumn(text []byte, protocol, name string) (uint64, bool) {
	names, ok := line(text, protocol)
	if !ok {
		return 0, false
	}
	after := text[bytes.Index(text, names)+len(names):]
	values, ok := line(after, protocol)
	if !ok {
		return 0, false
	}
	for len(names) > 0 {
		names, values = bytes.TrimLeft(names, " "), bytes.TrimLeft(values, " ")
		end := bytes.IndexByte(names, ' ')
		if end < 0 {
			end = len(names)
		}
		if string(names[:end]) == name {
			n, _, ok := number(values)
			return n, ok
		}
		next := bytes.IndexByte(values, ' ') // values may be negative: skipped as words
		if next < 0 {
			return 0, false
		}
		names, values = names[end:], values[next:]
	}
	return 0, false
}

// throttled takes the quota counters from a control group's cpu.stat: v2 has
// microseconds, v1 nanoseconds.
func throttled(text []byte) (periods, ns uint64, ok bool) {
	if periods, ok = counter(text, "nr_throttled"); !ok {
		return 0, 0, false
	}
	if us, ok := counter(text, "throttled_usec"); ok {
		return periods, us * 1000, true
	}
	ns, ok = counter(text, "throttled_time")
	return periods, ns, ok
}

// line returns what follows "key " on the line that begins with it.
func line(text []byte, key string) ([]byte, bool) {
	for len(text) > 0 {
		l := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			l, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		if len(l) > len(key) && l[len(key)] == ' ' && string(l[:len(key)]) == key {
			return l[len(key)+1:], true
		}
	}
	return nil, false
}

// number takes the next decimal number off text, past blanks. ok is false
// where the next word is not a number that fits 64 bits.
func number(text []byte) (n uint64, rest []byte, ok bool) {
	text = bytes.TrimLeft(text, " \t")
	i := 0
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		d := uint64(text[i] - '0')
		if n > (1<<64-1-d)/10 {
			return 0, nil, false
		}
		n = n*10 + d
	}
	if i == 0 || i < len(text) && text[i] != ' ' && text[i] != '\t' && text[i] != '\n' {
		return 0, nil, false
	}
	return n, text[i:], true
}

// counter returns the number on the line that begins with key.
func counter(text []byte, key string) (uint64, bool) {
	l, ok := line(text, key)
	if !ok {
		return 0, false
	}
	n, _, ok := number(l)
	return n, ok
}

// since returns now − before of a counter, 0 for one that went backwards, as
// some of the kernel's sums do by a tick.
func since(now, before uint64) uint64 {
	if now < before {
		return 0
	}
	return now - before
}

// parseThreadTime takes the first two numbers of a schedstat: for how long, in ns, the
// thread ran, and for how long it was ready to run and had no processor
// (Documentation/scheduler/sched-stats.rst).
func parseThreadTime(text []byte) (t threadTime, ok bool) {
	ran, rest, ok := number(text)
	if !ok {
		return t, false
	}
	waited, _, ok := number(rest)
	if !ok || max(ran, waited) > math.MaxInt64 {
		return t, false
	}
	return threadTime{int64(ran), int64(waited)}, true
}
