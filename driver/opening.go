package driver

import "context"

// New returns a Driver whose Open has three steps, and ends with the first that
// fails:
//
//   - The target's options are decoded into a copy of defaults, see [DecodeOptions].
//     Where they have a method Validate() error it is called, to refuse, wrapping
//     [ErrOption], what does not go together.
//   - begin makes the session. It refuses what the target cannot be, and connects
//     nothing.
//   - reach connects it. Where that fails, the session is closed. Nil: there is no
//     broker.
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
		return nil, err // and no Session without a value
	}
	return s, nil
}
