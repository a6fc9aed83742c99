package vitals

// TimeService is what a time service has told the kernel of the wall clock. The fields are those of result.TimeService.
type TimeService struct {
	Synchronised bool
	Offset       int64
	Frequency    float64
	MostError    int64
	Error        int64
}

// ReadTimeService asks the kernel; ok is false where it does not tell.
func ReadTimeService() (s TimeService, ok bool) {
	k, err := clockSync()
	if err != nil {
		return s, false
	}
	return TimeService{k.synchronised, int64(k.offset), k.frequency, int64(k.maxError), int64(k.estError)}, true
}
