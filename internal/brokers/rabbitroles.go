package brokers

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// rabbitRoles asks the nodes by Erlang's erl_call, a small program that has an expression evaluated in a node:
// AMQP has no request for a queue's leader, and rabbitmqctl takes seconds.
func rabbitRoles(nodes []rabbitNode, h Home, env []string) roles {
	call := func(ctx context.Context, k int, expression string) (string, error) {
		return erlang(ctx, h, env, nodes[k], expression)
	}
	return roles{
		placement: func(ctx context.Context, running []int, d Destination) (Placement, error) {
			// A node hears of a new leader a little later than that itself.
			var heard Placement
			var errs []error
			for _, k := range running {
				said, err := call(ctx, k, fmt.Sprintf(rabbitWhere, erlangBinary(d.Name)))
				if err == nil {
					var found Placement
					if found, err = rabbitPlacement(said, nodes); err == nil {
						heard = found
					}
				}
				if err == nil && heard.Leader == k {
					return heard, nil
				}
				errs = append(errs, err)
			}
			if slices.Contains(errs, nil) {
				return heard, nil
			}
			return heard, errors.Join(errs...)
		},
		transfer: func(ctx context.Context, running []int, d Destination, p Placement) error {
			able := slices.DeleteFunc(slices.Clone(p.Followers), func(k int) bool { return !slices.Contains(running, k) })
			if len(able) == 0 {
				return fmt.Errorf("%w: no other node with a replica is running", ErrNoTransfer)
			}
			said, err := firstOf(running, func(k int) (string, error) {
				return call(ctx, k, fmt.Sprintf(rabbitMove, erlangBinary(d.Name), nodes[able[0]]))
			})
			if err == nil && said != "migrated" {
				err = fmt.Errorf("%w: it is a %s", ErrNoTransfer, said)
			}
			return err
		},
	}
}

// rabbitFind binds Q to the queue.
const rabbitFind = `{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, %s)), `

// rabbitWhere is the queue's leader and its members, all separated by spaces. A quorum queue's leader is what
// Raft in that node last saw; the queue's own record follows it.
const rabbitWhere = rabbitFind + `Members = fun() -> maps:get(nodes, amqqueue:get_type_state(Q)) end,
{Leader, All} = case amqqueue:get_type(Q) of
  rabbit_classic_queue -> N = node(amqqueue:get_pid(Q)), {N, [N]};
  rabbit_quorum_queue -> {Name, Recorded} = amqqueue:get_pid(Q),
    case ra_leaderboard:lookup_leader(Name) of {_, Seen} -> {Seen, Members()}; _ -> {Recorded, Members()} end;
  rabbit_stream_queue -> {maps:get(leader_node, amqqueue:get_type_state(Q)), Members()}
end,
lists:flatten(lists:join(" ", [atom_to_list(A) || A <- [Leader | All]])).
`

// rabbitMove moves a quorum queue's leader to a node; else it is the queue's kind.
const rabbitMove = rabbitFind + `case amqqueue:get_type(Q) of
  rabbit_classic_queue -> "classic queue, which lives on one node";
  rabbit_stream_queue -> "stream, whose leader cannot be chosen";
  rabbit_quorum_queue -> case rabbit_quorum_queue:transfer_leadership(Q, '%s') of
    {migrated, _} -> "migrated";
    Other -> lists:flatten(io_lib:format("quorum queue, and the node says ~p", [Other])) end
end.
`

// rabbitPolicy sets the policy for all queues; else it is what the broker has against its definition.
const rabbitPolicy = `case rabbit_policy:parse_set(<<"/">>, <<"sixnines">>, <<".*">>, %s, 0, <<"queues">>, <<"sixnines">>) of
  ok -> "set";
  {error_string, Why} -> lists:flatten(Why)
end.
`

// rabbitUser makes the account's user, who may do what the regular expressions match.
func rabbitUser(a *account) string {
	rule := func(right string) string { return erlangBinary(strings.Join(a.of(right), "|")) }
	return fmt.Sprintf(`User = %s, By = <<"sixnines">>,
case rabbit_auth_backend_internal:lookup_user(User) of
  {ok, _} -> ok;
  _ -> rabbit_auth_backend_internal:add_user(User, %s, By)
end,
rabbit_auth_backend_internal:set_permissions(User, <<"/">>, %s, %s, %s, By),
"set".
`, erlangBinary(a.user), erlangBinary(a.password), rule("configure"), rule("write"), rule("read"))
}

// erlangBinary writes text as a binary of Erlang, byte by byte, so that nothing in it has a meaning.
func erlangBinary(text string) string {
	var all []string
	for _, b := range []byte(text) {
		all = append(all, fmt.Sprint(b))
	}
	return "<<" + strings.Join(all, ",") + ">>"
}

// erlang returns the text that an expression is in the node.
func erlang(ctx context.Context, h Home, env []string, n rabbitNode, expression string) (string, error) {
	path, ok := h.LookPath("erl_call")
	if !ok {
		return "", fmt.Errorf("erl_call, which comes with Erlang (Debian's package erlang-base), is not on PATH")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*answerLimit)
	defer cancel()
	c := exec.CommandContext(ctx, path, "-address", n.place.at(n.distribution), "-timeout", "10", "-e")
	c.Env, c.Stdin = env, strings.NewReader(expression)
	said, err := c.CombinedOutput()
	text := strings.TrimSpace(string(said))
	if err != nil {
		return "", fmt.Errorf("%s: erl_call: %w: %.300s", n, err, text)
	}
	inner, ok := strings.CutPrefix(text, `{ok, "`)
	if inner, ok2 := strings.CutSuffix(inner, `"}`); ok && ok2 {
		return inner, nil
	}
	return "", fmt.Errorf("%s says %.300s", n, text)
}

// rabbitPlacement reads a leader's name and those of all members.
func rabbitPlacement(said string, nodes []rabbitNode) (Placement, error) {
	var numbers []int
	for _, name := range strings.Fields(said) {
		k := slices.IndexFunc(nodes, func(n rabbitNode) bool { return n.String() == name })
		if k < 0 {
			return Placement{}, fmt.Errorf("%w: the broker reports %q", ErrNoLeader, name)
		}
		numbers = append(numbers, k)
	}
	if len(numbers) == 0 {
		return Placement{}, errors.New("the broker reports no node")
	}
	return Placement{Leader: numbers[0], Followers: without(numbers[1:], numbers[0])}, nil
}
