package vitals

import "time"

// ProcessorTime returns zero here: it is not implemented for Windows.
func ProcessorTime() (own, children time.Duration) { return 0, 0 }
