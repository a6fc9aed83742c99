package scenario

import (
	"strings"

	"sixnines/internal/spell"
)

// PayloadKind names what payloads are made of.
type PayloadKind string

// The kinds of payloads.
const (
	RandomPayload   PayloadKind = ""         // cannot be compressed; its text is "random"
	ZeroPayload     PayloadKind = "zeros"    // compresses to almost nothing
	CompressPayload PayloadKind = "compress" // compresses to about Payload.Share of its size
	FilePayload     PayloadKind = "file"     // pieces of a file, one after the other
	CorpusPayload   PayloadKind = "corpus"   // the files of a directory
)

// Payload says what the bodies of payloads are made of; the 32 bytes of the
// envelope come before them. Its text is one of
//
//	random            random bytes
//	zeros             zeros
//	compress:50%      random bytes alternating with zeros, so that a compressor leaves about half
//	file:PATH         consecutive pieces of the file, starting over at its end
//	corpus:DIR        one file of the directory per body, in the order of their names; if one is
//	                  too short, the next one follows
//
// In YAML compress, file and corpus may be a mapping, too: {compress: 50%}. Paths
// are relative to the working directory. The zero value is random.
type Payload struct {
	Kind  PayloadKind
	Share float64 // compress: what a compressor leaves, in (0, 1]
	Path  string  // file, corpus
}

const payloadForm = "write random, zeros, compress:50%, file:PATH or corpus:DIR"

// ParsePayload reads what payloads are made of. Its errors are of type [*Error],
// without a position.
func ParsePayload(s string) (Payload, error) {
	word, rest, has := strings.Cut(s, ":")
	p := Payload{Kind: PayloadKind(word)}
	switch {
	case word == "random" || p.Kind == ZeroPayload:
		if has {
			return Payload{}, wrong("the payload "+quote(s)+" takes no parameters", "write "+word)
		}
		if word == "random" {
			p.Kind = RandomPayload
		}
	case p.Kind == CompressPayload:
		var err error
		if p.Share, err = spell.ParsePercent(strings.TrimSpace(rest)); err != nil || p.Share <= 0 || p.Share > 1 {
			return Payload{}, wrong("the payload "+quote(s)+" does not say how much a compressor leaves", "write such as compress:50%, above 0% and at most 100%")
		}
	case p.Kind == FilePayload || p.Kind == CorpusPayload:
		if p.Path = rest; rest == "" {
			return Payload{}, wrong("the payload "+quote(s)+" lacks its path", payloadForm)
		}
	default:
		words := []string{"random", "zeros", "compress", "file", "corpus"}
		return Payload{}, wrong("no payload is called "+quote(word), payloadForm+spell.Meant(word, words...))
	}
	return p, nil
}

// IsZero reports whether the payload is random.
func (p Payload) IsZero() bool { return p == Payload{} }

// String returns the payload as [ParsePayload] reads it back.
func (p Payload) String() string {
	switch p.Kind {
	case RandomPayload:
		return "random"
	case CompressPayload:
		return string(p.Kind) + ":" + spell.PercentText(p.Share)
	case FilePayload, CorpusPayload:
		return string(p.Kind) + ":" + p.Path
	}
	return string(p.Kind)
}

// MarshalText implements [encoding.TextMarshaler], for YAML and JSON alike.
func (p Payload) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Payload) UnmarshalText(text []byte) error { return set(p, text, ParsePayload) }
