package report

import "sixnines/result"

// pauseText says of a pause what it was and how long.
func pauseText(p result.Pause) string {
	source := p.Source.Properties()
	length := duration(p.End - p.Start)
	if source.Counter {
		return source.Means + ", within these " + length + " (" + plain(source.Name) + ")"
	}
	return source.Means + ", " + length + " (" + plain(source.Name) + ")"
}

// sourceName is a cause as people read it: a source of pauses or the kind of an event.
func sourceName(source string) string { return plain(result.PauseSource(source).Properties().Name) }
