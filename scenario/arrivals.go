package scenario

import (
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
)

// arrivalsForms are the short forms, one a kind.
var arrivalsForms = [...]struct {
	kind ArrivalsKind
	form string
}{
	{Constant, "constant"},
	{Poisson, "poisson"},
	{Step, "step:1000/s@10s,2000/s@10s"},
	{Ramp, "ramp:1000/s..5000/s"},
	{Sine, "sine:50%@10s"},
	{Burst, "burst:100@1s"},
	{Trace, "trace:FILE"},
}

func formOf(k ArrivalsKind) string {
	for _, f := range arrivalsForms {
		if f.kind == k {
			return f.form
		}
	}
	return ""
}

func arrivalsWords() []string {
	words := make([]string, len(arrivalsForms))
	for i, f := range arrivalsForms {
		words[i] = string(f.kind)
	}
	return words
}

// ParseArrivals reads the short form of arrivals:
//
//	constant
//	poisson
//	step:RATE@DURATION,RATE@DURATION,…
//	ramp:RATE..RATE
//	sine:PERCENT%@PERIOD
//	burst:COUNT@PERIOD
//	trace:FILE
//
// Step, ramp and sine may end in ",random". Its errors are of type [*Error],
// without a position.
func ParseArrivals(s string) (Arrivals, error) {
	word, rest, has := strings.Cut(s, ":")
	a := Arrivals{Kind: ArrivalsKind(word)}
	form := formOf(a.Kind)
	if form == "" {
		return Arrivals{}, wrong("no arrivals are called "+quote(word),
			"one of "+strings.Join(arrivalsWords(), ", ")+spell.Meant(word, arrivalsWords()...))
	}
	_, parameters, _ := strings.Cut(form, ":")
	switch {
	case has && parameters == "":
		return Arrivals{}, wrong("the arrivals "+quote(s)+" take no parameters", "write "+word)
	case !has && parameters != "":
		return Arrivals{}, wrong("the arrivals "+quote(s)+" lack their parameters", "write such as "+form)
	}
	if a.Kind.canBeRandom() {
		rest, a.Random = strings.CutSuffix(rest, ",random")
	}
	var err error
	switch a.Kind {
	case Step:
		for part := range strings.SplitSeq(rest, ",") {
			var step RateStep
			if err = pair(part, "@", &step.Rate, &step.For); err != nil {
				break
			}
			a.Steps = append(a.Steps, step)
		}
	case Ramp:
		err = pair(rest, "..", &a.From, &a.To)
	case Sine:
		err = pair(rest, "@", &a.Amplitude, &a.Period)
	case Burst:
		err = pair(rest, "@", &a.Count, &a.Period)
	case Trace:
		if a.File = rest; rest == "" {
			err = wrong("the file's name is missing", "")
		}
	}
	if err != nil {
		if e, ok := err.(*Error); ok && e.Hint != "" {
			return Arrivals{}, wrong("arrivals "+quote(s)+": "+e.Cause, e.Hint)
		}
		return Arrivals{}, wrong("arrivals "+quote(s)+": "+err.Error(), "write such as "+form)
	}
	return a, nil
}

// pair reads the two values that separator divides.
func pair(s, separator string, first, second any) error {
	a, b, ok := strings.Cut(s, separator)
	if !ok {
		return wrong(quote(s)+" lacks its "+quote(separator), "")
	}
	for i, text := range []string{a, b} {
		var err error
		switch into := []any{first, second}[i].(type) {
		case *Rate:
			*into, err = ParseRate(text)
		case *time.Duration:
			*into, err = parseDuration(text)
		case *uint64:
			if *into, err = spell.Whole(text); err != nil {
				err = wrong(quote(text)+" is not a whole number", "")
			}
		case *float64:
			if *into, err = spell.ParsePercent(text); err != nil {
				err = wrong(quote(text)+" is not a percentage", "")
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// canBeRandom reports whether arrivals of this kind may be made random.
func (k ArrivalsKind) canBeRandom() bool { return k == Step || k == Ramp || k == Sine }

// usesRate reports whether this kind uses the workload's rate.
func (k ArrivalsKind) usesRate() bool {
	return k == "" || k == Constant || k == Poisson || k == Sine
}

// String returns the short form, as [ParseArrivals] reads it back if a is
// valid; the empty string for the zero value.
func (a Arrivals) String() string {
	var b strings.Builder
	b.WriteString(string(a.Kind))
	switch a.Kind {
	case Step:
		for i, s := range a.Steps {
			b.WriteString([]string{":", ","}[min(i, 1)] + s.Rate.String() + "@" + formatDuration(s.For))
		}
	case Ramp:
		b.WriteString(":" + a.From.String() + ".." + a.To.String())
	case Sine:
		b.WriteString(":" + spell.PercentText(a.Amplitude) + "@" + formatDuration(a.Period))
	case Burst:
		b.WriteString(":" + strconv.FormatUint(a.Count, 10) + "@" + formatDuration(a.Period))
	case Trace:
		b.WriteString(":" + a.File)
	}
	if a.Random {
		b.WriteString(",random")
	}
	return b.String()
}

// MarshalText implements [encoding.TextMarshaler] with the short form.
func (a Arrivals) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]; no text is the zero
// value.
func (a *Arrivals) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*a = Arrivals{}
		return nil
	}
	return set(a, text, ParseArrivals)
}
