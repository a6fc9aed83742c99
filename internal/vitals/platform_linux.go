package vitals

import (
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
	"sixnines/result"
)

// platformOpeners lists the sources of Linux, in the order of their values.
func platformOpeners() []opener {
	return []opener{
		{[]result.Vital{result.VitalProcessCPU, result.VitalProcessCPUUser, result.VitalProcessCPUSystem, result.VitalProcessVoluntary, result.VitalProcessInvoluntary, result.VitalProcessMajorFaults}, openUsage},
		{[]result.Vital{result.VitalProcessThreads, result.VitalProcessRSS}, openProcess},
		{[]result.Vital{result.VitalHostBusy, result.VitalHostSteal, result.VitalHostStealTime}, openTicks},
		{[]result.Vital{result.VitalHostPressure}, openPressure},
		{[]result.Vital{result.VitalHostSwapIn}, openSwap},
		{[]result.Vital{result.VitalHostRetransmits}, openTCP},
		{[]result.Vital{result.VitalHostSuspended}, openSuspension},
		{[]result.Vital{result.VitalCgroupThrottled, result.VitalCgroupThrottleTime}, func() (source, error) { return openThrottling(self) }},
	}
}

// usage is getrusage of the process.
type usage struct{ last unix.Rusage }

func openUsage() (source, error) {
	u := &usage{}
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u.last); err != nil {
		return nil, fmt.Errorf("getrusage: %w", err)
	}
	return u, nil
}

func (u *usage) sample(e interval, out []Value) ([]Value, error) {
	var now unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &now); err != nil {
		return out, fmt.Errorf("getrusage: %w", err)
	}
	// The kernel splits the exact sum into user and system by its ticks; each
	// part, not the sum, may step back by one.
	user := float64(max(0, now.Utime.Nano()-u.last.Utime.Nano())) / 1e9
	system := float64(max(0, now.Stime.Nano()-u.last.Stime.Nano())) / 1e9
	out = append(out,
		Value{result.VitalProcessCPU, (user + system) / e.elapsed.Seconds()},
		Value{result.VitalProcessCPUUser, user},
		Value{result.VitalProcessCPUSystem, system},
		Value{result.VitalProcessVoluntary, float64(now.Nvcsw - u.last.Nvcsw)},
		Value{result.VitalProcessInvoluntary, float64(now.Nivcsw - u.last.Nivcsw)},
		Value{result.VitalProcessMajorFaults, float64(now.Majflt - u.last.Majflt)})
	u.last = now
	return out, nil
}

func (u *usage) close() {}

// processStat is /proc/self/stat.
type processStat struct {
	file *counterFile
	page uint64
}

func openProcess() (source, error) {
	f, err := openCounters("/proc/self/stat")
	if err != nil {
		return nil, err
	}
	return &processStat{f, uint64(os.Getpagesize())}, nil
}

func (p *processStat) sample(_ interval, out []Value) ([]Value, error) {
	text, err := p.file.read()
	if err != nil {
		return out, err
	}
	threads, pages, ok := processSize(text)
	if !ok {
		return out, p.file.malformed("threads and resident pages")
	}
	return append(out,
		Value{result.VitalProcessThreads, float64(threads)},
		Value{result.VitalProcessRSS, float64(pages * p.page)}), nil
}

func (p *processStat) close() { p.file.close() }

// ticks is the first line of /proc/stat.
type ticks struct {
	file *counterFile
	last cpuTime
}

func openTicks() (source, error) {
	f, err := openCounters("/proc/stat")
	if err != nil {
		return nil, err
	}
	t := &ticks{file: f}
	if t.last, err = t.read(); err != nil {
		f.close()
		return nil, err
	}
	return t, nil
}

func (t *ticks) read() (cpuTime, error) {
	text, err := t.file.prefix()
	if err != nil {
		return cpuTime{}, err
	}
	now, ok := parseCPUTime(text)
	if !ok {
		return cpuTime{}, t.file.malformed("line of CPU times")
	}
	return now, nil
}

func (t *ticks) sample(_ interval, out []Value) ([]Value, error) {
	now, err := t.read()
	if err != nil {
		return out, err
	}
	d := now.since(t.last)
	total := d.total()
	if total == 0 {
		// Less than a tick since the last call: the values are absent, and the
		// ticks go to the next interval.
		return out, nil
	}
	t.last = now
	return append(out,
		Value{result.VitalHostBusy, float64(d.busy) / float64(total)},
		Value{result.VitalHostSteal, float64(d.steal) / float64(total)},
		Value{result.VitalHostStealTime, float64(d.steal) / ticksPerSecond}), nil
}

func (t *ticks) close() { t.file.close() }

// single is a source of one counter of one file.
type single struct {
	file  *counterFile
	parse func(text []byte) (uint64, bool)
	name  result.Vital // of the value
	scale float64      // of the counter to the unit
	last  uint64
}

func openSingle(path string, name result.Vital, scale float64, parse func([]byte) (uint64, bool)) (source, error) {
	f, err := openCounters(path)
	if err != nil {
		return nil, err
	}
	s := &single{file: f, parse: parse, name: name, scale: scale}
	if s.last, err = s.read(); err != nil {
		f.close()
		return nil, err
	}
	return s, nil
}

func (s *single) read() (uint64, error) {
	text, err := s.file.read()
	if err != nil {
		return 0, err
	}
	n, ok := s.parse(text)
	if !ok {
		return 0, s.file.malformed("counter for " + string(s.name))
	}
	return n, nil
}

func (s *single) sample(_ interval, out []Value) ([]Value, error) {
	now, err := s.read()
	if err != nil {
		return out, err
	}
	grown := since(now, s.last)
	s.last = now
	return append(out, Value{s.name, float64(grown) * s.scale}), nil
}

func (s *single) close() { s.file.close() }

func openPressure() (source, error) {
	return openSingle("/proc/pressure/cpu", result.VitalHostPressure, 1e-6, pressureTotal)
}

func openSwap() (source, error) {
	return openSingle("/proc/vmstat", result.VitalHostSwapIn, 1,
		func(text []byte) (uint64, bool) { return counter(text, "pswpin") })
}

func openTCP() (source, error) {
	return openSingle("/proc/net/snmp", result.VitalHostRetransmits, 1,
		func(text []byte) (uint64, bool) { return snmpColumn(text, "Tcp:", "RetransSegs") })
}

// suspension compares CLOCK_BOOTTIME with CLOCK_MONOTONIC. They cannot be read
// at the same instant, so their difference is known as a range.
type suspension struct{ most int64 }

func openSuspension() (source, error) {
	s := &suspension{}
	_, s.most = s.gap()
	return s, nil
}

func (s *suspension) gap() (least, most int64) {
	before := clock.Now()
	boot := clock.Boottime()
	return boot - clock.Now(), boot - before
}

func (s *suspension) sample(_ interval, out []Value) ([]Value, error) {
	least, most := s.gap()
	slept := max(0, least-s.most) // growth that no delay between the readings explains
	s.most = most
	return append(out, Value{result.VitalHostSuspended, float64(slept)}), nil
}

func (s *suspension) close() {}

// throttling sums the quota counters of all control groups above a process.
type throttling struct {
	files         []*counterFile
	periods, time uint64
}

func openThrottling(process string) (*throttling, error) {
	groups, err := findGroups(hostRoot(), process, controlCPU)
	if err != nil {
		return nil, err
	}
	t := &throttling{}
	for _, g := range groups {
		f, err := openCounters("/" + g.dir + "/cpu.stat")
		if err != nil {
			continue // a root group has no cpu.stat
		}
		if text, err := f.read(); err == nil {
			if _, _, ok := throttled(text); ok {
				t.files = append(t.files, f)
				continue
			}
		}
		f.close()
	}
	if len(t.files) == 0 {
		return nil, fmt.Errorf("none of the %d control groups in sight has a quota to count", len(groups))
	}
	if t.periods, t.time, err = t.read(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *throttling) read() (periods, ns uint64, err error) {
	for _, f := range t.files {
		text, err := f.read()
		if err != nil {
			return 0, 0, err
		}
		p, n, ok := throttled(text)
		if !ok {
			return 0, 0, f.malformed("nr_throttled")
		}
		periods, ns = periods+p, ns+n
	}
	return periods, ns, nil
}

func (t *throttling) sample(_ interval, out []Value) ([]Value, error) {
	periods, ns, err := t.read()
	if err != nil {
		return out, err
	}
	out = append(out,
		Value{result.VitalCgroupThrottled, float64(since(periods, t.periods))},
		Value{result.VitalCgroupThrottleTime, float64(since(ns, t.time))})
	t.periods, t.time = periods, ns
	return out, nil
}

func (t *throttling) close() {
	for _, f := range t.files {
		f.close()
	}
}

// hostRoot returns the root of the file system.
func hostRoot() fs.FS { return os.DirFS("/") }

// nofileLimit returns how many files the process may have open. Go raises the
// soft limit to the hard one at start.
func nofileLimit() (soft, hard uint64, err error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, 0, fmt.Errorf("getrlimit: %w", err)
	}
	return l.Cur, l.Max, nil
}

// realtimeLimit returns the highest real-time priority the process may take;
// root may take any, whatever the limit.
func realtimeLimit() (uint64, error) {
	if os.Geteuid() == 0 {
		return 99, nil
	}
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTPRIO, &l); err != nil {
		return 0, fmt.Errorf("getrlimit: %w", err)
	}
	return min(l.Cur, 99), nil
}

// clockSync asks the kernel whether the wall clock is synchronised.
func clockSync() (syncState, error) {
	var t unix.Timex // no mode set: only reads
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return syncState{}, fmt.Errorf("adjtimex: %w", err)
	}
	unit := time.Microsecond
	if t.Status&unix.STA_NANO != 0 {
		unit = time.Nanosecond
	}
	return syncState{
		offset:       time.Duration(t.Offset) * unit,
		frequency:    float64(t.Freq) / (1 << 16),
		synchronised: state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0,
		maxError:     time.Duration(t.Maxerror) * time.Microsecond,
		estError:     time.Duration(t.Esterror) * time.Microsecond,
	}, nil
}

// latencyControl returns nil if this process may keep the processors out of
// their deep sleep states. Opening alone requests nothing.
func latencyControl() error {
	fd, err := unix.Open("/dev/cpu_dma_latency", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/cpu_dma_latency: %w", err)
	}
	return unix.Close(fd)
}
