package redisstreams

import (
	"fmt"
	"strconv"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
	"sixnines/semantics"
)

// semantics reports the settings in effect.
func (s *session) semantics() driver.Semantics {
	server := s.Server()
	sem := s.Semantics("entry", false)
	sem.Levels.Durability, sem.Durability = durability(server)
	sem.Levels.Replication, sem.Replication = server.Replication()
	sem.Levels.Delivery = semantics.AtLeastOnce
	sem.Acknowledgment = "the entry is in the stream; on disk: " + sem.Durability
	sem.Delivery = "at least once, while the stream holds the entries"
	sem.Consumption = fmt.Sprintf("pull, blocking, up to %d entries of a stream at once", s.options.Count)
	o := sem.Settings
	o["count"], o["field"] = strconv.Itoa(s.options.Count), s.options.Field
	o["consumer_connections"] = "one each"
	o["trimming"] = "none"
	if n := s.options.MaxLen; n > 0 {
		o["trimming"] = fmt.Sprintf("to %d entries, %s", n, s.options.Trim)
		sem.Levels.Delivery = semantics.AtMostOnce
		sem.Delivery = "at most once: entries are trimmed whether they were read or not"
		sem.Warnings = append(sem.Warnings, fmt.Sprintf("a consumer that is more than %d entries behind loses messages to trimming (maxlen)", n))
	}
	if limit := server.Settings["maxmemory"]; limit != "" && limit != "0" {
		if policy := server.Settings["maxmemory-policy"]; policy != "noeviction" {
			sem.Warnings = append(sem.Warnings, fmt.Sprintf("when its %s bytes of memory are full the server may remove whole streams (maxmemory-policy %s)", limit, policy))
		}
	}
	return sem
}

// durability says what the server does to keep entries, in words too.
func durability(s resp.Server) (semantics.Durability, string) {
	file, known := s.Settings["appendonly"]
	if !known {
		switch s.Info["aof_enabled"] {
		case "1":
			return semantics.NotKnown, "append-only file, fsync not known"
		case "0":
			return semantics.Memory, "memory, snapshots not known"
		}
		return semantics.NotKnown, "not known, the server does not tell"
	}
	if file == "yes" {
		switch s.Settings["appendfsync"] {
		case "always":
			return semantics.Synced, "append-only file, fsync before the reply"
		case "everysec":
			return semantics.PageCache, "append-only file, fsync every second"
		case "no":
			return semantics.PageCache, "append-only file, page cache"
		}
		return semantics.NotKnown, "append-only file, fsync not known"
	}
	switch save, told := s.Settings["save"]; {
	case !told:
		return semantics.Memory, "memory, snapshots not known"
	case save != "":
		return semantics.Memory, "memory, snapshots now and then (save " + save + ")"
	}
	return semantics.Memory, "memory"
}
