//go:build !windows

package nanomsg

import (
	"go.nanomsg.org/mangos/v3/transport"
	"go.nanomsg.org/mangos/v3/transport/ipc"
)

// local are the transports of the system's own: sockets that are files.
func local() []transport.Transport { return []transport.Transport{ipc.Transport} }
