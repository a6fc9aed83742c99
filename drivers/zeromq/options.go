package zeromq

import (
	"time"

	"sixnines/driver"
)

// Options are the options of the drivers, see driver.DecodeOptions.
type Options struct {
	Bind          string          `option:"bind" enum:"natural,producers,consumers" doc:"which side's sockets bind, the others connect to all of them; natural: publishers, pushers and responders bind"`
	SendHWM       int             `option:"send_hwm" doc:"ZMQ_SNDHWM, messages that wait for one peer before Send waits; 0: no limit; -1: no limit where the load is paced; flat out 10000, or what 64 MiB hold" min:"-1"`
	ReceiveHWM    int             `option:"receive_hwm" doc:"ZMQ_RCVHWM, messages that wait for a consumer before its socket reads no more; 0: no limit; -1: as for send_hwm" min:"-1"`
	Full          string          `option:"full" enum:"block,drop" doc:"what a publisher does if a subscriber has send_hwm messages waiting; block: it waits (ZMQ_XPUB_NODROP); drop: that subscriber loses the message, which is counted as missing"`
	Linger        time.Duration   `option:"linger" doc:"how long a closed socket still tries to send what waits" min:"0s" max:"1m"`
	IOThreads     int             `option:"io_threads" doc:"threads of libzmq that read and write the connections" min:"1" max:"64"`
	SendBuffer    driver.ByteSize `option:"send_buffer" doc:"the kernel's send buffer of a connection; 0: the system's choice" min:"0" max:"1GiB"`
	ReceiveBuffer driver.ByteSize `option:"receive_buffer" doc:"the kernel's receive buffer of a connection; 0: the system's choice" min:"0" max:"1GiB"`
	KeepAlive     time.Duration   `option:"keepalive" doc:"TCP keepalive after this long without traffic, in whole seconds; 0: the system's choice" min:"0s"`
	Security      string          `option:"security" enum:"none,curve" doc:"curve: encrypt and authenticate every connection by CURVE, with keys made for the run"`
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{Bind: "natural", SendHWM: -1, ReceiveHWM: -1, Full: "block", IOThreads: 1, Security: "none"}
}
