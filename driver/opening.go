package driver

import "context"

// New returns a Driver whose Open has three steps, and ends at the first step that
// fails:
//
//   - The target's options are decoded into a copy of defaults, see [DecodeOptions].
//     If O has a method Validate() error, it is called, and refuses options that
//     exclude each other, wrapping [ErrOption].
//   - begin makes the session. It refuses targets that cannot work, and connects
//     nothing.
//   - reach connects the session. If it fails, the session is closed. A nil reach
//     means that the driver has no broker.
func New[O any, S Session](defaults O, begin func(t Target, o O) (S, error), reach func(s S, ctx context.Context) error) Driver {
	return &opening[O, S]{defaults, begin, reach}
}

type opening[O any, S Session] struct {
	defaults O
	begin    func(Target, O) (S, error)
	reach    func(S, context.Context) error
}

// Open implements Driver.
func (d *opening[O, S]) Open(ctx context.Context, t Target) (Session, error) {
	o := d.defaults
	if err := DecodeOptions(t.Options, &o); err != nil {
		return nil, err
	}
	if v, ok := any(&o).(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	s, err := d.begin(t, o)
	if err == nil && d.reach != nil {
		if err = d.reach(s, ctx); err != nil {
			_ = s.Close(ctx)
		}
	}
	if err != nil {
		return nil, err // not a non-nil Session that holds a nil pointer
	}
	return s, nil
}
