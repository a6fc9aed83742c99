package scenario

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode"
)

// Headers are names with values that accompany every message beside its payload:
// headers, properties or fields in the broker's own terms. Their text is one of
//
//	4x32B                        4 headers, called h0, h1, …, each with a value of 32 bytes
//	tenant:blue,trace:4bf92f     these; in YAML also {tenant: blue, trace: 4bf92f}
//	none
//
// The zero value is no headers.
type Headers struct{ text string }

// Header is one of Headers.
type Header struct{ Name, Value string }

const (
	headersForm = "write such as 4x32B, or tenant:blue,trace:4bf92f"
	// mostHeaders limits the headers of a message, longestHeaderName the bytes of a
	// name (AMQP's short strings have the same limit), and largestHeaders the bytes of
	// all headers together: brokers carry them in one frame.
	mostHeaders       = 64
	longestHeaderName = 255
	largestHeaders    = 32 * KiB
)

// ParseHeaders reads headers. Its errors are of type [*Error], without a position.
func ParseHeaders(s string) (Headers, error) {
	if s == "none" {
		return Headers{}, nil
	}
	h := Headers{text: s}
	list, err := h.parse()
	if err != nil {
		return Headers{}, err
	}
	if !strings.Contains(s, ":") { // the canonical text
		return Headers{strconv.Itoa(len(list)) + "x" + Size(len(list[0].Value)).String()}, nil
	}
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = x.Name + ":" + x.Value
	}
	return Headers{strings.Join(parts, ",")}, nil
}

func (h Headers) parse() ([]Header, error) {
	s := h.text
	fail := func(cause, hint string) ([]Header, error) { return nil, wrong("the headers "+quote(s)+cause, hint) }
	var list []Header
	if count, size, ok := strings.Cut(s, "x"); ok && !strings.Contains(s, ":") {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > mostHeaders {
			return fail(" do not say how many there are", "write such as 4x32B, with 1 to "+strconv.Itoa(mostHeaders)+" headers")
		}
		each, err := ParseSize(size)
		if err != nil {
			return nil, err
		}
		if each < 1 || each > largestHeaders {
			return fail(": values of "+each.String(), "a value has 1B to "+largestHeaders.String())
		}
		for i := range n {
			list = append(list, Header{"h" + strconv.Itoa(i), headerValue(i, int(each))})
		}
	} else {
		seen := map[string]bool{}
		for part := range strings.SplitSeq(s, ",") {
			name, value, ok := strings.Cut(part, ":")
			x := Header{strings.TrimSpace(name), strings.TrimSpace(value)}
			switch {
			case !ok:
				return fail(": "+quote(part)+" has no name and value", headersForm+"; a comma ends a header")
			case x.Name == "" || len(x.Name) > longestHeaderName || strings.Trim(x.Name, headerLetters) != "":
				return fail(": "+quote(x.Name)+" is no name", "a name has 1 to "+strconv.Itoa(longestHeaderName)+" letters, digits, dots, hyphens and underscores")
			case x.Value == "" || strings.ContainsFunc(x.Value, unicode.IsControl):
				return fail(": the value of "+x.Name+" is empty or has control characters", headersForm)
			case seen[x.Name]:
				return fail(" hold "+quote(x.Name)+" twice", "write it once")
			}
			seen[x.Name] = true
			list = append(list, x)
		}
	}
	total := Size(0)
	for _, x := range list {
		total += Size(len(x.Name) + len(x.Value))
	}
	if len(list) > mostHeaders || total > largestHeaders {
		return fail(" are too many or too large", "at most "+strconv.Itoa(mostHeaders)+", and "+largestHeaders.String()+" together")
	}
	return list, nil
}

const headerLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// headerValue returns a text of size bytes, the same for the same index.
func headerValue(i, size int) string {
	random := rand.New(rand.NewPCG(uint64(i), 0))
	b := make([]byte, size)
	for k := range b {
		b[k] = headerLetters[random.IntN(len(headerLetters))]
	}
	return string(b)
}

// List returns the headers in their order.
func (h Headers) List() []Header {
	if h.IsZero() {
		return nil
	}
	list, err := h.parse()
	if err != nil {
		panic("scenario: headers that were read are not: " + err.Error())
	}
	return list
}

// IsZero reports whether messages have no headers.
func (h Headers) IsZero() bool { return h == Headers{} }

// String returns the headers as [ParseHeaders] reads them back.
func (h Headers) String() string {
	if h.IsZero() {
		return "none"
	}
	return h.text
}

// MarshalText implements [encoding.TextMarshaler], for YAML and JSON alike.
func (h Headers) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (h *Headers) UnmarshalText(text []byte) error { return set(h, text, ParseHeaders) }
