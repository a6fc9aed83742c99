package vitals

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
)

// processCPU is the processor time that a process has used.
type processCPU struct {
	name  string
	ticks uint64 // of processor time
}

// readProcesses returns all visible processes by their number.
func readProcesses(root fs.FS) (map[int]processCPU, error) {
	entries, err := fs.ReadDir(root, "proc")
	if err != nil {
		return nil, err
	}
	table := map[int]processCPU{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := fs.ReadFile(root, "proc/"+e.Name()+"/stat")
		if err != nil {
			continue // it has ended
		}
		if p, ok := parseProcessCPU(text); ok {
			table[pid] = p
		}
	}
	if len(table) == 0 {
		return nil, &fs.PathError{Op: "read", Path: "proc", Err: errNotOffered}
	}
	return table, nil
}

// parseProcessCPU takes name (column 2) and user and system time (14, 15) from
// /proc/PID/stat.
func parseProcessCPU(text []byte) (p processCPU, ok bool) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return p, false
	}
	fields := bytes.Fields(text[end+1:]) // the first is column 3
	if len(fields) < 13 {
		return p, false
	}
	user, err := strconv.ParseUint(string(fields[11]), 10, 62)
	if err != nil {
		return p, false
	}
	system, err := strconv.ParseUint(string(fields[12]), 10, 62)
	if err != nil {
		return p, false
	}
	return processCPU{string(text[open+1 : end]), user + system}, true
}

// othersCPU is the processor time that other processes used in an interval.
type othersCPU struct {
	busiest []processShare // those from muchCPU on, the busiest first
	ticks   uint64         // of all visible processes, this one included
	elapsed time.Duration
}

// processShare is what one process used.
type processShare struct {
	pid   int
	name  string
	share float64 // of one core
}

// muchCPU is the share of a core from which on a process is named: three ticks in
// the third of a second that is measured.
const muchCPU = 0.1

// othersBetween compares two readings. A process that began in between counts in full.
func othersBetween(before, after map[int]processCPU, self int, elapsed time.Duration) othersCPU {
	o := othersCPU{elapsed: elapsed}
	for pid, p := range after {
		used := p.ticks
		if was, ok := before[pid]; ok && was.name == p.name {
			used = since(p.ticks, was.ticks)
		}
		o.ticks += used
		share := float64(used) / ticksPerSecond / elapsed.Seconds()
		if pid != self && share >= muchCPU {
			o.busiest = append(o.busiest, processShare{pid, p.name, share})
		}
	}
	slices.SortFunc(o.busiest, func(a, b processShare) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.pid, b.pid))
	})
	return o
}

// tellProcesses is the largest number of processes that are named.
const tellProcesses = 5

func (m machine) checkOthers(p probe) Check {
	const advice = "stop them, or move them to another machine: they take processor time from the measurement and delay it while they run"
	if p.othersErr != nil {
		return unknown(p.othersErr, advice)
	}
	o := p.others
	var names []string
	var sum float64
	for i, x := range o.busiest {
		sum += x.share
		if i < tellProcesses {
			names = append(names, fmt.Sprintf("%s (process %d) %s", x.name, x.pid, spell.Share(x.share)))
		}
	}
	found := "no other process uses a tenth of a core"
	if len(names) > 0 {
		found = strings.Join(names, ", ") + " of a core"
		if more := len(o.busiest) - len(names); more > 0 {
			found += fmt.Sprintf(", and %d more", more)
		}
	}
	// The initial namespace has a fixed number (linux/proc_ns.h).
	if ns, err := fs.ReadLink(m.root, "proc/self/ns/pid"); err == nil && ns != "pid:[4026531836]" {
		found += "; processes outside this container cannot be seen"
		if unseen := float64(since(p.cpu.busy, o.ticks)) / ticksPerSecond / max(o.elapsed.Seconds(), 1e-3); p.cpuErr == nil && unseen >= muchCPU {
			sum += unseen
			found += fmt.Sprintf(", and use %s of a core", spell.Share(unseen))
		}
	}
	switch {
	case sum >= 0.5:
		return warn(found, advice)
	case sum > 0:
		return note(found, advice)
	}
	return good(found)
}
