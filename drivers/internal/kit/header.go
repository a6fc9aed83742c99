package kit

import "sixnines/driver"

// HeaderBytes is how many bytes the names and values of headers have together.
func HeaderBytes(headers []driver.Header) (n int) {
	for _, h := range headers {
		n += len(h.Name) + len(h.Value)
	}
	return n
}
