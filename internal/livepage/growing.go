package livepage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"sixnines/result"
)

// growing is a result file that is read while it is written.
type growing struct {
	path    string
	at      int64  // how far it was read
	rest    []byte // of a line that was not whole
	headers []byte // the lines with headers, which begin each part that is read
	known   int    // how many these are
	run     *result.Run
}

// read reads the whole records that have come since it was called last, and returns the run
// as far as it is recorded; nil before its first record.
func (g *growing) read() (*result.Run, error) {
	f, err := os.Open(g.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it is not made yet, or was removed because it holds nothing
	}
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	defer f.Close() // read only: nothing to lose
	text, err := io.ReadAll(io.NewSectionReader(f, g.at, 1<<62))
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	g.at += int64(len(text))
	text = append(g.rest, text...)
	end := bytes.LastIndexByte(text, '\n') + 1
	g.rest = bytes.Clone(text[end:])
	if end == 0 {
		return g.run, nil
	}
	reader := result.NewReader(io.MultiReader(bytes.NewReader(g.headers), bytes.NewReader(text[:end])))
	for seen := 0; ; {
		record, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return g.run, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the records: %w", err)
		}
		if record.Header != nil {
			if seen++; seen <= g.known {
				continue
			}
			g.known++
			g.headers = append(append(g.headers, record.Raw...), '\n')
		}
		if g.run == nil {
			g.run = &result.Run{Metrics: map[result.Metric]*result.Merged{}}
			g.run.SetPath(g.path)
		}
		if err := g.run.Add(record); err != nil {
			return nil, fmt.Errorf("read the records: %w", err)
		}
	}
}
