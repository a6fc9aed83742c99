package vitals

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"sixnines/internal/spell"
)

func (m machine) checkMemory() Check {
	const advice = "free some memory: garbage collection and the page cache slow down when it is short"
	total, err := m.kibibytes("MemTotal")
	if err != nil {
		return unknown(err, advice)
	}
	free, err := m.kibibytes("MemAvailable")
	if err != nil {
		return unknown(err, advice)
	}
	found := fmt.Sprintf("%s of %s available", spell.Size(int64(free<<10)), spell.Size(int64(total<<10)))
	if left, err := readMemory(m.root); err == nil && left.limited && uint64(left.bytes) < free<<10 {
		free = uint64(left.bytes) >> 10
		found += fmt.Sprintf("; the limit of %s leaves %s", left.at, spell.Size(int64(free<<10)))
	}
	switch {
	case free < 256<<10:
		return fail(found, advice)
	case free < 1<<20 || free < total/10:
		return warn(found, advice)
	}
	return good(found)
}

func (m machine) checkSwap() Check {
	const advice = "swapoff -a while measuring: reading a page back from disk takes milliseconds"
	total, err := m.kibibytes("SwapTotal")
	if err != nil {
		return unknown(err, advice)
	}
	free, err := m.kibibytes("SwapFree")
	if err != nil {
		return unknown(err, advice)
	}
	switch used := since(total, free); {
	case total == 0:
		return good("none")
	case used > 0:
		return warn(fmt.Sprintf("%s of %s in use", spell.Size(int64(used<<10)), spell.Size(int64(total<<10))), advice)
	}
	return good(fmt.Sprintf("%s, unused", spell.Size(int64(total<<10))))
}

// kibibytes reads a field of /proc/meminfo.
func (m machine) kibibytes(key string) (uint64, error) {
	v, err := m.field("proc/meminfo", key)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(v, " kB"), 10, 50)
	if err != nil {
		return 0, fmt.Errorf("/proc/meminfo: %s %q is not a size", key, v)
	}
	return n, nil
}

func (m machine) checkHugePages() Check {
	const advice = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled: a thread that touches memory waits while a huge page is assembled"
	v, err := m.word("sys/kernel/mm/transparent_hugepage/enabled")
	switch {
	case err != nil:
		return unknown(err, advice)
	case chosen(v) == "always":
		return note("always", advice)
	}
	return good(chosen(v))
}

func checkOpenFiles() Check {
	const advice = "ulimit -n 65536 (limits.conf: nofile): every connection takes one descriptor here and one in the broker"
	soft, _, err := nofileLimit()
	switch {
	case err != nil:
		return unknown(err, advice)
	case soft < 256:
		return fail("at most "+spell.Count(int64(min(soft, math.MaxInt64))), advice)
	case soft < 4096:
		return warn("at most "+spell.Count(int64(min(soft, math.MaxInt64))), advice)
	}
	return good("at most " + spell.Count(int64(min(soft, math.MaxInt64))))
}
