package resp

import "strings"

// slots is how many slots the servers of a cluster divide among themselves.
const slots = 1 << 14

// slotOf returns the slot of a key or of a sharded channel: CRC16 of what is between its first brace and the next one that
// closes, or of all of it where that is nothing. See "Key distribution model" and "Hash tags" in
// https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/.
func slotOf(key string) int {
	if _, after, found := strings.Cut(key, "{"); found {
		if tag, _, closed := strings.Cut(after, "}"); closed && tag != "" {
			key = tag
		}
	}
	// CRC-16/XMODEM: polynomial 0x1021, no reflection, begins with 0.
	var crc uint16
	for _, b := range []byte(key) {
		crc ^= uint16(b) << 8
		for range 8 {
			high := crc & 0x8000
			crc <<= 1
			if high != 0 {
				crc ^= 0x1021
			}
		}
	}
	return int(crc % slots)
}
