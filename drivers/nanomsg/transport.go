package nanomsg

import (
	"go.nanomsg.org/mangos/v3/transport"
	"go.nanomsg.org/mangos/v3/transport/inproc"
	"go.nanomsg.org/mangos/v3/transport/tcp"
	"go.nanomsg.org/mangos/v3/transport/tlstcp"
)

// transports are those that URLs can name. Their packages tell the library of
// them; here it can be seen which.
func transports() []transport.Transport {
	return append([]transport.Transport{tcp.Transport, tlstcp.Transport, inproc.Transport}, local()...)
}

// schemes are those of addresses.
func schemes() []string {
	var all []string
	for _, known := range transports() {
		all = append(all, known.Scheme())
	}
	return all
}
