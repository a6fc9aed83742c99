package scenario

import (
	"slices"
	"strings"

	"sixnines/internal/spell"
)

// Stretch is the part of a window that an objective is about: "", all of it; "outside actions",
// where no action has an effect; "during actions", where any has; "during stall", where one of
// that kind has. See docs/method.md for when an effect is gone.
type Stretch string

// Words of stretches.
const (
	outsideWord = "outside"
	duringWord  = "during"
	anyAction   = "actions"

	outsideActions Stretch = outsideWord + " " + anyAction
)

// Outside reports whether s is what lies outside of all effects.
func (s Stretch) Outside() bool { return s == outsideActions }

// During reports whether s has the effects of actions of a kind.
func (s Stretch) During(kind ActionKind) bool {
	word, ok := strings.CutPrefix(string(s), duringWord+" ")
	return ok && (word == anyAction || word == string(kind))
}

// cutStretch splits what follows an objective's operator into its limit and its stretch.
func cutStretch(text string) (limit string, s Stretch, err error) {
	words := strings.Fields(text)
	i := slices.IndexFunc(words, func(w string) bool { return w == outsideWord || w == duringWord })
	if i < 0 {
		return text, "", nil
	}
	limit, what := strings.Join(words[:i], " "), words[i+1:]
	names := append(strings.Split(kindNames(), ", "), anyAction)
	switch {
	case len(what) != 1:
		return "", "", wrong(quote(text)+" does not say "+words[i]+" what", "write such as "+string(outsideActions)+" or during "+names[0])
	case words[i] == outsideWord && what[0] != anyAction:
		return "", "", wrong(quote(words[i]+" "+what[0])+" is no part of a run", "write "+string(outsideActions)+", where none has an effect")
	case !slices.Contains(names, what[0]):
		return "", "", wrong("no action is called "+quote(what[0]), "there are "+strings.Join(names, ", ")+spell.Meant(what[0], names...))
	}
	return limit, Stretch(words[i] + " " + what[0]), nil
}

// checkStretch returns an error if o has no figure for its stretch.
func (o *Objective) checkStretch(text string) error {
	response := o.Subject == "" || o.Subject == "delivery.last" || strings.HasSuffix(o.Subject, ".response") || strings.HasPrefix(o.Subject, "connection.")
	switch {
	case o.Stretch == "", o.IsMetric() && response, o.Subject == subjectRate, o.IsTime() && !o.Stretch.Outside():
		return nil
	case o.IsMetric():
		return wrong(quote(text)+": it is not known when messages with this latency were due: "+o.Subject, "name a response time, which counts from when a message was due, such as p99 "+o.Op+" 20ms "+string(o.Stretch))
	case o.IsTime():
		return wrong(quote(text)+": "+o.Subject+" is about actions", "leave "+string(o.Stretch)+" out, or write such as during actions")
	}
	return wrong(quote(text)+": "+o.Subject+" is of the whole run", "leave "+string(o.Stretch)+" out")
}

// withoutActions returns why the acts of a run can never decide o; an empty cause: they may.
func (o *Objective) withoutActions(acts []Act) (cause, hint string) {
	if !o.IsTime() && o.Stretch == "" {
		return "", ""
	}
	acts = slices.DeleteFunc(slices.Clone(acts), func(a Act) bool { return a.Properties().Scheduled })
	if len(acts) == 0 {
		return "the run has no action that it could refer to", "give the run actions, or leave it out"
	}
	if o.Stretch != "" && !o.Stretch.Outside() && !slices.ContainsFunc(acts, func(a Act) bool { return o.Stretch.During(a.Kind) }) {
		return "no such action is planned", "name one that is, such as during " + string(acts[0].Kind) + ", or leave it out"
	}
	return "", ""
}
