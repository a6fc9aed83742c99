package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sixnines/internal/report"
	"sixnines/result"
)

// mostResponses is the limit of --requests and --pages: beyond it every user meets slow
// responses, and the arithmetic has no digits to distinguish shares.
const mostResponses = 1_000_000_000

func (a *app) ninesCommand() *cobra.Command {
	usual := report.UsualUserModel()
	requests, pages := usual.Requests, usual.Pages
	users := "99%"
	var (
		asJSON bool
		of     string
	)
	cmd := &cobra.Command{
		Use:   "nines [PERCENTILE…] [FILE] [flags]",
		Short: "Show what a percentile means for users",
		Long: `Translate a percentile into what users see: for a number of requests per page and
pages per session, the share of users who get at least one slower response, and the
percentile that must be fast enough for nearly all users to get none. With a result
file, the measured percentiles are shown beside these.

If each response is slow with the same probability, 1 − p^(requests × pages) of the
users get a slow one. If slow responses come together, fewer users do: in the extreme
case 1 − p of them. Real systems lie between the two.`,
		Example: `  sixnines nines
  sixnines nines 99 99.99 --requests 120 --pages 10 --users 99.9%
  sixnines nines results/nats-deliver-20261120T140211Z-00f1d2c3.jsonl`,
		ValidArgsFunction: resultFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			model, err := userModelOf(requests, pages, users)
			if err != nil {
				return err
			}
			percentiles, file, err := a.ninesArguments(args)
			if err != nil {
				return err
			}
			if of != "" && file == "" {
				return wrongUsage("name a result file, too", "--of chooses a workload of a result, but no result is given")
			}
			var run *result.Run
			if file != "" {
				if run, err = a.oneRun(file, of); err != nil {
					return err
				}
			}
			if asJSON {
				return report.NinesJSON(a.Stdout, model, percentiles, run)
			}
			return report.Nines(a.Stdout, model, percentiles, run, a.reportOptions(a.Stdout))
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Int64Var(&requests, "requests", requests, "`N` requests per page")
	cmd.Flags().Int64Var(&pages, "pages", pages, "`N` pages per session")
	cmd.Flags().StringVar(&users, "users", users, "the `SHARE` of users who must get no slow response, such as 99.9%")
	cmd.Flags().StringVar(&of, "of", "", "with several workloads in the result: use `WORKLOAD`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// userModelOf checks what the flags say of the users.
func userModelOf(requests, pages int64, users string) (report.UserModel, error) {
	for _, f := range []struct {
		name  string
		value int64
	}{{"requests", requests}, {"pages", pages}} {
		if f.value < 1 || f.value > mostResponses {
			return report.UserModel{}, wrongUsage(fmt.Sprintf("--%s takes a whole number from 1 to %s", f.name, grouped(mostResponses)), "--%s cannot be %d", f.name, f.value)
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(users, "%")), 64)
	// The share must not be so close to 1 that it equals 1 in floating point.
	if err != nil || !strings.HasSuffix(users, "%") || !(v > 0 && v <= 99.9999999) {
		return report.UserModel{}, wrongUsage("--users takes a share in percent between 0% and 100%, such as 99.9%; no percentile is enough for all users", "--users cannot be %q", users)
	}
	return report.UserModel{Requests: requests, Pages: pages, Users: v / 100}, nil
}

// ninesArguments separates percentiles from the result file: an argument that looks like
// a number is a percentile. A file of such a name can be given as ./99.
func (env *Env) ninesArguments(args []string) (percentiles []result.Percentile, file string, err error) {
	for _, arg := range args {
		text := strings.TrimSuffix(strings.TrimPrefix(arg, "p"), "%")
		v, notNumber := strconv.ParseFloat(text, 64)
		if notNumber != nil && !errors.Is(notNumber, strconv.ErrRange) {
			if _, err := os.Stat(env.path(arg)); errors.Is(err, fs.ErrNotExist) {
				return nil, "", wrongUsage("write percentiles as numbers, such as 99.9, and a result as its file", "%q is neither a percentile nor a file", arg)
			}
			if file != "" {
				return nil, "", wrongUsage("give one result; sixnines report shows several", "%s and %s are two results", file, arg)
			}
			file = arg
			continue
		}
		switch {
		case !plainDecimal(text) || !(v > 0 && v < 100):
			return nil, "", wrongUsage("a percentile is a number between 0 and 100, such as 99.9", "%q is not a percentile", arg)
		case v < 1:
			return nil, "", wrongUsage("write percentiles, not fractions: "+strconv.FormatFloat(v*100, 'g', 12, 64), "%q is a percentile below 1", arg)
		case v > 99.9999999999:
			return nil, "", wrongUsage("the highest is p99.9999999999", "%q is too close to 100", arg)
		}
		percentiles = append(percentiles, result.Percentile(strconv.FormatFloat(v, 'f', -1, 64)))
	}
	if percentiles == nil {
		percentiles = result.Percentiles()
	}
	return percentiles, file, nil
}

// plainDecimal reports whether the text is digits and at most one point.
func plainDecimal(text string) bool {
	return text != "" && strings.Trim(text, "0123456789.") == "" && strings.Count(text, ".") <= 1
}
