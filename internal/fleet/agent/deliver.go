package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sixnines/internal/fleet/wire"
)

// errForeign says that a message is in the place of one of this agent's.
var errForeign = errors.New("somebody else sends as this agent")

// sender sends messages on the subject of an agent, each once: the stream takes a message only behind the one that was sent
// before, so that one that is sent again because its acknowledgement was lost is not taken twice.
type sender struct {
	js      jetstream.JetStream
	stream  string
	subject string
	last    uint64 // sequence in the stream of the last message on the subject; 0: none
}

// The pauses between attempts.
const (
	sendPatience = 5 * time.Second // for an acknowledgement
	sendPause    = 250 * time.Millisecond
	sendPauses   = 4 * time.Second // the longest
)

// send sends a message until the stream has it. trouble is called with each error after which it tries again.
func (s *sender) send(ctx context.Context, message []byte, trouble func(error)) error {
	for pause := sendPause; ; pause = min(2*pause, sendPauses) {
		err := s.try(ctx, message)
		if err == nil || errors.Is(err, errForeign) || ctx.Err() != nil {
			return err
		}
		trouble(err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (s *sender) try(ctx context.Context, message []byte) error {
	within, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	ack, err := s.js.Publish(within, s.subject, message, jetstream.WithExpectStream(s.stream), jetstream.WithExpectLastSequencePerSubject(s.last), jetstream.WithRetryAttempts(0))
	if err == nil {
		s.last = ack.Sequence
		return nil
	}
	var api *jetstream.APIError
	if !errors.As(err, &api) || api.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequence && api.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequenceConstant {
		return err
	}
	// The stream has a message after the last one that was acknowledged: this one, or a foreign one.
	stream, err := s.js.Stream(within, s.stream)
	if err != nil {
		return err
	}
	there, err := stream.GetLastMsgForSubject(within, s.subject)
	if err != nil {
		return err
	}
	if !bytes.Equal(there.Data, message) {
		return errForeign
	}
	s.last = there.Sequence
	return nil
}

// deliver sends the records, and at last how the run ended, until ctx ends.
func (j *job) deliver(ctx context.Context) {
	js, err := jetstream.New(j.agent.conn)
	if err != nil {
		j.cannotDeliver(err)
		return
	}
	s := &sender{js: js, stream: wire.StreamName(j.asked.Run), subject: wire.RecordSubject(j.asked.Run, j.agent.hello.ID)}
	trouble := func(err error) { j.trouble(err) }
	var buf, frame []byte
	for number := 0; ; {
		records, ended := j.spool.state()
		if number == records {
			if ended {
				break
			}
			select {
			case <-ctx.Done():
				return
			case <-j.spool.more:
			}
			continue
		}
		record, err := j.spool.read(number, buf)
		if err != nil {
			j.cannotDeliver(err)
			return
		}
		for index := range wire.Parts(len(record)) {
			frame = wire.AppendPart(frame[:0], wire.PartOf(uint64(number), record, index))
			if err := s.send(ctx, frame, trouble); err != nil {
				j.cannotDeliver(err)
				return
			}
		}
		buf = record[:0]
		number++
		j.mu.Lock()
		j.status.Delivered = uint64(number)
		j.mu.Unlock()
	}
	// The end is noted before the last record can be delivered, so that the state has it.
	for j.state().Ending == "" {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
	status := j.state()
	end, err := wire.Encode(j.agent.Version, &status)
	if err == nil {
		err = s.send(ctx, end, trouble)
	}
	if err != nil {
		j.cannotDeliver(err)
		return
	}
	j.ended.Store(true)
	j.set(func(*wire.Status) {})
}

// trouble notes why records are not delivered at the moment.
func (j *job) trouble(err error) {
	if gone := errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, jetstream.ErrStreamNotFound); gone && j.orphaned() && j.state().State == wire.Delivering {
		j.agent.say(fmt.Sprintf("run %s: its stream is gone, and so is its coordinator", j.asked.Run))
		j.shut(j.aside)
	}
}

// cannotDeliver gives up delivering, unless the job is over.
func (j *job) cannotDeliver(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	j.agent.say(fmt.Sprintf("run %s: its records cannot be delivered: %v", j.asked.Run, err))
	j.set(func(s *wire.Status) { s.Why = wire.Line("its records cannot be delivered: " + err.Error()) })
}
