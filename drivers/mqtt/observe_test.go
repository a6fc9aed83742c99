package mqtt_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"sixnines/driver/drivertest"
)

// observe subscribes with version 5 of the protocol and quality of service 0, packet
// by packet as the specification has them (MQTT 5.0, 3.1, 3.3 and 3.8).
func observe(address, user, password string) func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
	str := func(s string) string { return string(binary.BigEndian.AppendUint16(nil, uint16(len(s)))) + s }
	packet := func(kind byte, body string) string { return string([]byte{kind, byte(len(body))}) + body }
	return func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { c.Close() })
		const cleanUserPassword, noProperties = "\xC2", "\x00"
		hello := packet(0x10, str("MQTT")+"\x05"+cleanUserPassword+"\x00\x00"+noProperties+str("observer")+str(user)+str(password))
		ask := packet(0x82, "\x00\x01"+noProperties+str("s9/"+run+"/"+topic)+"\x00")
		if _, err := io.WriteString(c, hello+ask); err != nil {
			return nil, err
		}
		in := bufio.NewReader(c)
		for _, want := range []byte{0x20, 0x90} { // CONNACK and SUBACK
			if kind, body, err := readPacket(in); err != nil || kind != want {
				return nil, fmt.Errorf("packet %#x %q, want %#x, %v", kind, body, want, err)
			}
		}
		return func() (o drivertest.Observed, err error) {
			kind, body, err := readPacket(in)
			if err != nil {
				return o, err
			}
			if kind&0xF0 != 0x30 {
				return o, fmt.Errorf("packet %#x %q", kind, body)
			}
			body = body[2+binary.BigEndian.Uint16(body):] // the topic; quality 0 has no number
			n, size := binary.Uvarint(body)               // the same digits as MQTT's
			properties, payload := body[size:size+int(n)], body[size+int(n):]
			o = drivertest.Observed{Payload: payload, Headers: map[string]string{}}
			text := func() string {
				n := binary.BigEndian.Uint16(properties)
				s := string(properties[2 : 2+n])
				properties = properties[2+n:]
				return s
			}
			for len(properties) > 0 {
				if properties[0] != 0x26 {
					return o, fmt.Errorf("property %#x", properties[0])
				}
				properties = properties[1:]
				name := text()
				o.Headers[name] = text()
			}
			return o, nil
		}, nil
	}
}

// readPacket reads a packet: its first byte and what follows its length.
func readPacket(in *bufio.Reader) (kind byte, body []byte, err error) {
	if kind, err = in.ReadByte(); err != nil {
		return 0, nil, err
	}
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return 0, nil, err
	}
	body = make([]byte, n)
	_, err = io.ReadFull(in, body)
	return kind, body, err
}
