package brokers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// kafkaAnswers returns nil when the broker at the address knows at least the given
// number of brokers. The listener must have neither encryption nor login. It sends a
// request for the cluster's metadata, in the version that all brokers since 0.8
// answer.
func kafkaAnswers(ctx context.Context, address string, brokers int) error {
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write(metadataRequest()); err != nil {
		return err
	}
	n, err := readMetadata(c)
	if err != nil {
		return err
	}
	if n < brokers {
		return fmt.Errorf("%s knows of %d of %d brokers", address, n, brokers)
	}
	return nil
}

const metadataCorrelation = 0x6e696e65

// metadataRequest asks, in version 0, for the brokers and all topics: that version cannot
// leave the topics out.
func metadataRequest() []byte {
	const client = "sixnines"
	b := binary.BigEndian.AppendUint16(nil, 3) // Metadata
	b = binary.BigEndian.AppendUint16(b, 0)    // its version
	b = binary.BigEndian.AppendUint32(b, metadataCorrelation)
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(client))), client...)
	b = binary.BigEndian.AppendUint32(b, 0) // topics: all
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// readMetadata returns the number of brokers in the answer.
func readMetadata(r io.Reader) (int, error) {
	var head [12]byte // size, correlation, number of brokers
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, fmt.Errorf("no answer to a request for metadata: %w", err)
	}
	if got := binary.BigEndian.Uint32(head[4:]); got != metadataCorrelation {
		return 0, errors.New("the answer to a metadata request is not Kafka's")
	}
	n := int32(binary.BigEndian.Uint32(head[8:]))
	if n < 0 {
		return 0, errors.New("the answer to a request for metadata makes no sense")
	}
	return int(n), nil
}
