package driver_test

import (
	"context"
	"errors"
	"testing"

	"sixnines/driver"
)

type openingOptions struct {
	Low  int `option:"low"`
	High int `option:"high"`
}

func (o *openingOptions) Validate() error {
	if o.Low > o.High {
		return &driver.OptionError{Option: "low", Cause: "it is above high"}
	}
	return nil
}

// opened is a session that only opens and closes.
type opened struct {
	driver.Session
	options openingOptions
	reached bool
	closed  bool
}

func (s *opened) Close(context.Context) error {
	s.closed = true
	return nil
}

func TestOpening(t *testing.T) {
	refused, lost := errors.New("refused"), errors.New("lost")
	for name, tt := range map[string]struct {
		options      map[string]any
		begin, reach error
		want         error // nil: it opens
	}{
		"default":       {},
		"given":         {options: map[string]any{"low": 1, "high": 3}},
		"unknown":       {options: map[string]any{"lwo": 1}, want: driver.ErrOption},
		"contradictory": {options: map[string]any{"low": 3}, want: driver.ErrOption},
		"refused":       {begin: refused, want: refused},
		"not reached":   {reach: lost, want: lost},
	} {
		t.Run(name, func(t *testing.T) {
			var made *opened
			d := driver.New(openingOptions{High: 2}, func(target driver.Target, o openingOptions) (*opened, error) {
				if target.Run != "r" {
					t.Errorf("the target is %+v", target)
				}
				if tt.begin == nil {
					made = &opened{options: o}
				}
				return made, tt.begin
			}, func(s *opened, ctx context.Context) error {
				s.reached = ctx == t.Context()
				return tt.reach
			})
			s, err := d.Open(t.Context(), driver.Target{Run: "r", Options: tt.options})
			if !errors.Is(err, tt.want) || (s == nil) != (tt.want != nil) {
				t.Fatalf("%v, %v; want the error %v", s, err, tt.want)
			}
			if made != nil && (!made.reached || made.closed != (tt.reach != nil)) {
				t.Errorf("reached %v, closed %v", made.reached, made.closed)
			}
			if want := (openingOptions{1, 3}); name == "given" && made.options != want {
				t.Errorf("options %+v", made.options)
			}
		})
	}
}

// Where there is no broker the session is open when it has begun.
func TestOpeningReachesNothing(t *testing.T) {
	d := driver.New(struct{}{}, func(driver.Target, struct{}) (*opened, error) { return &opened{}, nil }, nil)
	if s, err := d.Open(t.Context(), driver.Target{}); err != nil || s == nil {
		t.Errorf("%v, %v", s, err)
	}
}
