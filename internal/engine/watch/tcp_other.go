//go:build !linux

package watch

import "sixnines/internal/transport"

// readTCP knows nothing of connections here.
func readTCP(*transport.Conn) (tcpInfo, bool) { return tcpInfo{}, false }
