package natswire

import (
	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// headerStart is what a block of headers begins with that has no status.
const headerStart = "NATS/1.0\r\n"

// AppendHeaders appends the block of headers as the protocol has it, without the
// empty line at its end.
func AppendHeaders(b []byte, headers []driver.Header) []byte {
	b = append(b, headerStart...)
	for _, h := range headers {
		b = append(append(append(append(b, h.Name...), ": "...), h.Value...), "\r\n"...)
	}
	return b
}

// LibraryHeaders are the same headers for the library.
func LibraryHeaders(headers []driver.Header) nats.Header {
	all := nats.Header{}
	for _, h := range headers {
		all[h.Name] = []string{h.Value}
	}
	return all
}

// HeaderSize is how many bytes the block of headers takes; 0 without any.
func HeaderSize(headers []driver.Header) int {
	if len(headers) == 0 {
		return 0
	}
	return len(headerStart) + kit.HeaderBytes(headers) + 4*len(headers) + 2
}

// CheckHeaders refuses headers that the server would not take.
func (c *Client) CheckHeaders(headers []driver.Header) error {
	if len(headers) > 0 && !c.Control().Conn().HeadersSupported() {
		return c.Wrap(nats.ErrHeadersNotSupported, "send headers")
	}
	return nil
}
