package stan

import (
	"bytes"
	"testing"

	"github.com/nats-io/stan.go/pb"
)

// The generated code of stan.go/pb is the measure of what is made and read here.

func TestPublishedMessages(t *testing.T) {
	for _, payload := range [][]byte{nil, []byte("x"), make([]byte, 127), make([]byte, 128), make([]byte, 1<<20)} {
		id := guid{1<<31 + 7, 3}
		raw := appendPubGUID(appendPubMsg(nil, appendPubHead(nil, "client-1", "sixnines.run.t0", []byte("conn")), payload), id)
		var m pb.PubMsg
		if err := m.Unmarshal(raw); err != nil {
			t.Fatal(err)
		}
		if m.ClientID != "client-1" || m.Subject != "sixnines.run.t0" || string(m.ConnID) != "conn" || !bytes.Equal(m.Data, payload) {
			t.Errorf("with %d bytes of payload: %+v", len(payload), m)
		}
		if back, ok := parseGUID([]byte(m.Guid)); !ok || back != id {
			t.Errorf("identifier %q is read as %+v", m.Guid, back)
		}
		if most := pubOverhead("client-1", "sixnines.run.t0", []byte("conn")); len(raw)-len(payload) > most {
			t.Errorf("%d bytes of payload make %d, more than %d beside", len(payload), len(raw), most)
		}
	}
}

func TestAcks(t *testing.T) {
	raw := appendAck(nil, appendField(nil, tagAckSubject, "sixnines.run.t0"), 1<<40)
	var ack pb.Ack
	if err := ack.Unmarshal(raw); err != nil || ack.Subject != "sixnines.run.t0" || ack.Sequence != 1<<40 {
		t.Errorf("%+v, %v", ack, err)
	}
}

func TestGUIDsOfOthersAreRefused(t *testing.T) {
	for _, text := range []string{"", "0", "zzzzzzzzzzzzzzzz", "00000000000000000"} {
		if g, ok := parseGUID([]byte(text)); ok {
			t.Errorf("%q is read as %+v", text, g)
		}
	}
	p := newPending(1)
	for _, id := range []guid{{0, 0}, {0, 1}, {1 << 31, 0}} {
		if from, _ := p.remove(id); from != nil {
			t.Errorf("%+v is found in a table that is empty", id)
		}
	}
}

func FuzzParseDelivery(f *testing.F) {
	for _, m := range []*pb.MsgProto{
		{Sequence: 1}, {Sequence: 1 << 50, Subject: "s", Reply: "r", Data: []byte("data"), Timestamp: 1, Redelivered: true, RedeliveryCount: 3, CRC32: 9},
	} {
		raw, err := m.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, ok := parseDelivery(raw)
		var m pb.MsgProto
		if err := m.Unmarshal(raw); err != nil {
			return // we may be more lenient with fields that we do not read
		}
		if m.Sequence == 0 {
			return
		}
		if !ok { // a group, which the protocol has none of: the same without it
			if raw, err := m.Marshal(); err != nil {
				t.Fatal(err)
			} else {
				d, ok = parseDelivery(raw)
			}
		}
		if !ok || d.sequence != m.Sequence || !bytes.Equal(d.payload, m.Data) || d.redelivered != m.Redelivered {
			t.Errorf("%x is read as %+v (%v) instead of %+v", raw, d, ok, m)
		}
	})
}

func FuzzParsePubAck(f *testing.F) {
	for _, m := range []*pb.PubAck{{Guid: "0123456789abcdef"}, {Guid: "g", Error: "stan: invalid publish request"}} {
		raw, err := m.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		id, refused, ok := parsePubAck(raw)
		var m pb.PubAck
		if err := m.Unmarshal(raw); err != nil {
			return
		}
		if !ok { // a group, as above
			if raw, err := m.Marshal(); err != nil {
				t.Fatal(err)
			} else {
				id, refused, ok = parsePubAck(raw)
			}
		}
		if !ok || string(id) != m.Guid || string(refused) != m.Error {
			t.Errorf("%x is read as %q, %q (%v) instead of %+v", raw, id, refused, ok, m)
		}
	})
}
