package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"sixnines/internal/engine/payload"
	"sixnines/internal/engine/plan"
	"sixnines/scenario"
)

// Input is what a load takes from the file system: the instants of a trace, or what
// payloads are cut from.
type Input struct {
	Name    string // in the notation of a scenario: trace:FILE, file:PATH, corpus:DIR
	trace   string
	payload scenario.Payload
}

// Inputs returns the inputs of a normalised scenario, of each of its workloads.
func Inputs(s *scenario.Scenario) []Input {
	var all []Input
	for _, part := range s.Parts() {
		w := &part.Scenario.Workload
		if w.Arrivals.Kind == scenario.Trace {
			all = append(all, Input{Name: w.Arrivals.String(), trace: w.Arrivals.File})
		}
		if w.Payload.Path != "" {
			all = append(all, Input{Name: w.Payload.String(), payload: w.Payload})
		}
	}
	return all
}

// Digest returns a digest, in hexadecimal, of all that is read: it changes with the content of a file,
// and with the order and number of a directory's files. Errors of a trace wrap ErrUsage.
func (i Input) Digest() (string, error) {
	h := sha256.New()
	if i.trace != "" {
		f, err := os.Open(i.trace)
		if err != nil {
			return "", fmt.Errorf("%w: workload.arrivals %s: %w", plan.ErrUsage, i.Name, err)
		}
		defer f.Close() // read only: no write can fail here
		if _, err := io.Copy(h, f); err != nil {
			return "", fmt.Errorf("%w: workload.arrivals %s: %w", plan.ErrUsage, i.Name, err)
		}
	} else {
		files, err := payload.Load(i.payload)
		if err != nil {
			return "", err
		}
		for _, text := range files {
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
			h.Write(text)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
