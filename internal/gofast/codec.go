package gofast

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"
)

// codecs are the benchmarks of a struct's way into bytes and back: by reflection, by
// code as a generator writes it, and by MessagePack, whose code is written alike.
func codecs() []Benchmark {
	return []Benchmark{
		{"marshal-reflection", marshalReflection}, {"marshal-generated", marshalGenerated}, {"marshal-messagepack", marshalMessagePack},
		{"unmarshal-reflection", unmarshalReflection}, {"unmarshal-generated", unmarshalGenerated}, {"unmarshal-messagepack", unmarshalMessagePack},
		{"unmarshal-interface", unmarshalInterface},
	}
}

// person is what is encoded.
type person struct {
	Name     string  `json:"name"`
	Phone    string  `json:"phone"`
	Born     int64   `json:"born"`
	Siblings int64   `json:"siblings"`
	Spouse   bool    `json:"spouse"`
	Money    float64 `json:"money"`
}

func somebody() person {
	return person{Name: "0123456789abcdef", Phone: "+1 555 0100", Born: 1455494400, Siblings: 2, Spouse: true, Money: 1234.5}
}

// appendJSON is what encoding/json writes, without reflection. The texts have nothing
// to escape.
func (p *person) appendJSON(b []byte) []byte {
	b = append(b, `{"name":"`...)
	b = append(b, p.Name...)
	b = append(b, `","phone":"`...)
	b = append(b, p.Phone...)
	b = append(b, `","born":`...)
	b = strconv.AppendInt(b, p.Born, 10)
	b = append(b, `,"siblings":`...)
	b = strconv.AppendInt(b, p.Siblings, 10)
	b = append(b, `,"spouse":`...)
	b = strconv.AppendBool(b, p.Spouse)
	b = append(b, `,"money":`...)
	b = strconv.AppendFloat(b, p.Money, 'f', -1, 64)
	return append(b, '}')
}

var errCodec = errors.New("not a person")

// parseJSON reads what appendJSON writes, its fields in any order.
func (p *person) parseJSON(b []byte) error {
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return errCodec
	}
	for b = b[1 : len(b)-1]; len(b) > 0; {
		key, rest, err := quoted(b)
		if err != nil || len(rest) == 0 || rest[0] != ':' {
			return errCodec
		}
		b = rest[1:]
		if string(key) == "name" || string(key) == "phone" {
			text, rest, err := quoted(b)
			if err != nil {
				return err
			}
			if string(key) == "name" {
				p.Name = string(text)
			} else {
				p.Phone = string(text)
			}
			b = rest
		} else {
			n := 0
			for n < len(b) && b[n] != ',' {
				n++
			}
			word := b[:n]
			b = b[n:]
			switch string(key) {
			case "born":
				p.Born, err = strconv.ParseInt(string(word), 10, 64)
			case "siblings":
				p.Siblings, err = strconv.ParseInt(string(word), 10, 64)
			case "spouse":
				p.Spouse, err = strconv.ParseBool(string(word))
			case "money":
				p.Money, err = strconv.ParseFloat(string(word), 64)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
		if len(b) > 0 {
			b = b[1:] // the comma
		}
	}
	return nil
}

func quoted(b []byte) (text, rest []byte, err error) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, errCodec
	}
	for i := 1; i < len(b); i++ {
		if b[i] == '"' {
			return b[1:i], b[i+1:], nil
		}
	}
	return nil, nil, errCodec
}

// The tags of MessagePack that are used here (msgpack.org, specification).
const (
	packArray6  = 0x96
	packString8 = 0xd9
	packInt64   = 0xd3
	packFalse   = 0xc2
	packTrue    = 0xc3
	packFloat64 = 0xcb
)

func (p *person) appendPack(b []byte) []byte {
	b = append(b, packArray6)
	for _, s := range [...]string{p.Name, p.Phone} {
		b = append(b, packString8, byte(len(s)))
		b = append(b, s...)
	}
	for _, n := range [...]int64{p.Born, p.Siblings} {
		b = binary.BigEndian.AppendUint64(append(b, packInt64), uint64(n))
	}
	if p.Spouse {
		b = append(b, packTrue)
	} else {
		b = append(b, packFalse)
	}
	return binary.BigEndian.AppendUint64(append(b, packFloat64), math.Float64bits(p.Money))
}

func (p *person) parsePack(b []byte) error {
	if len(b) == 0 || b[0] != packArray6 {
		return errCodec
	}
	b = b[1:]
	for _, s := range [...]*string{&p.Name, &p.Phone} {
		if len(b) < 2 || b[0] != packString8 || len(b) < 2+int(b[1]) {
			return errCodec
		}
		*s = string(b[2 : 2+b[1]])
		b = b[2+b[1]:]
	}
	for _, n := range [...]*int64{&p.Born, &p.Siblings} {
		if len(b) < 9 || b[0] != packInt64 {
			return errCodec
		}
		*n = int64(binary.BigEndian.Uint64(b[1:]))
		b = b[9:]
	}
	if len(b) != 10 || b[1] != packFloat64 {
		return errCodec
	}
	p.Spouse = b[0] == packTrue
	p.Money = math.Float64frombits(binary.BigEndian.Uint64(b[2:]))
	return nil
}

func marshalReflection(b *testing.B) {
	p := somebody()
	for b.Loop() {
		if _, err := json.Marshal(&p); err != nil {
			b.Fatal(err)
		}
	}
}

func marshalGenerated(b *testing.B) {
	p := somebody()
	for b.Loop() {
		keep(int64(len(toJSON(&p))))
	}
}

func marshalMessagePack(b *testing.B) {
	p := somebody()
	for b.Loop() {
		keep(int64(len(toPack(&p))))
	}
}

// toJSON and toPack return bytes of their own, as [json.Marshal] does. Were they inlined,
// their bytes would be on the stack, and the person a constant.
//
//go:noinline
func toJSON(p *person) []byte { return p.appendJSON(make([]byte, 0, 112)) }

//go:noinline
func toPack(p *person) []byte { return p.appendPack(make([]byte, 0, 64)) }

func unmarshalReflection(b *testing.B) {
	p := somebody()
	unmarshal(b, p.appendJSON(nil), func(p *person, text []byte) error { return json.Unmarshal(text, p) })
}

func unmarshalGenerated(b *testing.B) {
	p := somebody()
	unmarshal(b, p.appendJSON(nil), (*person).parseJSON)
}

func unmarshalMessagePack(b *testing.B) {
	p := somebody()
	unmarshal(b, p.appendPack(nil), (*person).parsePack)
}

// unmarshal decodes a text again and again, and checks what comes of it.
func unmarshal(b *testing.B, text []byte, decode func(*person, []byte) error) {
	var p person
	for b.Loop() {
		if err := decode(&p, text); err != nil {
			b.Fatal(err)
		}
	}
	if p != somebody() {
		b.Fatalf("decoded %+v", p)
	}
}

func unmarshalInterface(b *testing.B) {
	p := somebody()
	text := p.appendJSON(nil)
	for b.Loop() {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			b.Fatal(err)
		}
	}
}
