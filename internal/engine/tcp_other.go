//go:build !linux

package engine

// readTCP knows nothing of connections here.
func readTCP(*trackedConn) (tcpInfo, bool) { return tcpInfo{}, false }
