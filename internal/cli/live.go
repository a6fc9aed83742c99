package cli

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"sixnines/internal/engine"
	"sixnines/result"
)

// frame is how often the live view is drawn: it shares the processors with the
// measurement.
const frame = 250 * time.Millisecond

// live shows progress in a few lines of a terminal that it redraws in place.
//
// It reads no input, so it never changes the terminal's mode: Ctrl-C remains a
// signal, and a run that is killed leaves a working terminal.
type live struct {
	program *tea.Program
	to      io.Writer
	height  int           // of the model
	done    chan struct{} // closed when the program has ended
	err     error         // of the program; read it only after done
	once    sync.Once
}

// newLive shows runs with the given number of named workloads; 0: one unnamed workload.
func newLive(env *Env, workloads int, ctrlC ...string) *live {
	profile := colorprofile.Ascii
	if env.colour(env.Stderr) {
		profile = colorprofile.ANSI
	}
	columns, _ := env.terminal(env.Stderr)
	m := &model{started: time.Now(), columns: columns, height: heightFor(workloads), ascii: env.ascii(), ctrlC: ctrlC}
	l := &live{to: env.Stderr, height: m.height, done: make(chan struct{})}
	l.program = tea.NewProgram(m, tea.WithOutput(env.Stderr), tea.WithInput(nil), tea.WithoutSignalHandler(),
		tea.WithFPS(int(time.Second/frame)), tea.WithColorProfile(profile), tea.WithEnvironment(quietTerminal(env.getenv("TERM"))))
	go func() {
		defer close(l.done)
		// A failure of the display does not stop a measurement.
		_, l.err = l.program.Run()
	}()
	return l
}

// quietTerminal returns an environment in which Bubble Tea does not query the terminal's
// abilities: since nothing reads the answer, it would appear on the user's next command
// line. Bubble Tea does not query a remote terminal of an ordinary kind.
func quietTerminal(kind string) []string {
	for _, asked := range []string{"ghostty", "wezterm", "alacritty", "kitty", "rio"} {
		if strings.Contains(kind, asked) {
			kind = "xterm-256color"
		}
	}
	return []string{"TERM=" + kind, "SSH_TTY=/dev/tty"}
}

func (l *live) observe(p engine.Progress) { l.program.Send(p) }

func (l *live) say(text string) { l.program.Send(note(text)) }

func (l *live) close() {
	l.once.Do(func() {
		l.program.Quit()
		<-l.done
		if l.err != nil {
			return // the content of the screen is not known
		}
		// Bubble Tea leaves its last frame, and the cursor at its bottom.
		io.WriteString(l.to, ansi.CursorUp(l.height-1)+ansi.EraseScreenBelow)
	})
}

// model is the state of the live view.
type model struct {
	started time.Time
	columns int
	height  int // rows, always
	ascii   bool
	ctrlC   []string // what it does, the longest text first

	last engine.Progress
	at   time.Time // when last came
}

type (
	tick struct{}
	note string // a line that stays, above the view
)

func nextTick() tea.Cmd {
	return tea.Tick(frame, func(time.Time) tea.Msg { return tick{} })
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nextTick() }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tick:
		return m, nextTick()
	case note:
		return m, tea.Println(string(msg))
	case engine.Progress:
		m.last, m.at = msg, time.Now()
	case tea.WindowSizeMsg:
		m.columns = msg.Width
	}
	return m, nil
}

// heightFor returns the constant number of rows of the view: if a frame is lower than the
// last one and the cursor is visible, Bubble Tea loses its position on the screen. The last
// row is blank and holds the visible cursor, so that a run that is killed leaves a visible
// cursor and an empty row for the shell. Between the bar and the row of troubles are two
// rows, or one for each of several workloads.
func heightFor(workloads int) int { return 3 + max(2, workloads) }

// View implements tea.Model.
func (m *model) View() tea.View {
	rows := m.rows(time.Now())
	for len(rows) < m.height {
		rows = append(rows, "")
	}
	v := tea.NewView(strings.Join(rows, "\n"))
	v.Cursor = tea.NewCursor(0, m.height-1)
	return v
}

// Colours are of the 16 that every terminal has, so that its own theme decides.

func faint(s string) string  { return lipgloss.NewStyle().Faint(true).Render(s) }
func strong(s string) string { return lipgloss.NewStyle().Bold(true).Render(s) }
func alarm(s string) string {
	return lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true).Render(s)
}

// colourOf returns the colour of a good, an intermediate or a bad value; any other value has
// a separate colour.
func colourOf[T comparable](x, good, between, bad T) color.Color {
	switch x {
	case good:
		return lipgloss.Green
	case between:
		return lipgloss.Yellow
	case bad:
		return lipgloss.Red
	}
	return lipgloss.Cyan
}

// coloured pads a word, and gives it a colour where stdout has any.
func (env *Env) coloured(word string, width int, c color.Color) string {
	word = fmt.Sprintf("%-*s", width, word)
	if env.colour(env.Stdout) {
		word = lipgloss.NewStyle().Foreground(c).Render(word)
	}
	return word
}

// rows are the lines of the view at the moment now, none longer than the
// terminal is wide.
func (m *model) rows(now time.Time) []string {
	p := m.last
	if p.Phase = cmp.Or(p.Phase, phaseConnect); p.Phase == phaseConnect {
		return m.cut([]string{"  " + strong("connect ") + faint(seconds(now.Sub(m.started)))})
	}
	// Progress comes once an interval; the bar moves on in between.
	if p.Left > 0 {
		since := min(now.Sub(m.at), p.Left)
		p.Elapsed, p.Left = p.Elapsed+since, p.Left-since
	}
	rows := []string{m.bar(p)}
	if len(p.Workloads) > 0 {
		return m.cut(append(append(rows, workloadRows(p.Workloads)...), m.bottom(p.Phase, troublesOfAll(p.Workloads))))
	}
	pace := "  " + sentOf(p, strong)
	if p.Phase == phaseWarmup {
		return m.cut(append(rows, pace, "  "+faint("not recorded yet")))
	}
	if p.Phase != result.PhaseMeasure {
		// The load goes on unrecorded; only the number in flight matters.
		pace = "  in flight " + strong(grouped(p.InFlight))
	} else {
		pace += gap + "in flight " + grouped(p.InFlight)
	}
	if p.Backlog > 0 {
		pace += gap + alarm("overdue "+grouped(p.Backlog))
	}
	if p.Until != "" {
		pace += gap + p.Until
	}
	rows = append(rows, pace)
	if p.Count > 0 {
		rows = append(rows, m.aside("  "+strings.Join(figuresOf(p, strong), gap), string(p.Metric)+", last interval", string(p.Metric)))
	} else if p.Phase == result.PhaseMeasure {
		rows = append(rows, "  "+faint("no message finished in the last interval"))
	}
	return m.cut(append(rows, m.bottom(p.Phase, troubles(p.Counters))))
}

// bottom returns the row with troubles, and with what Ctrl-C does.
func (m *model) bottom(phase, trouble string) string {
	if trouble == noTrouble {
		trouble = faint(trouble)
	} else {
		trouble = alarm(trouble)
	}
	if phase == result.PhaseMeasure {
		return m.aside("  "+trouble, m.ctrlC...)
	}
	return "  " + trouble
}

// aside returns a row followed by the first of several remarks that fits.
func (m *model) aside(row string, remarks ...string) string {
	for _, r := range remarks {
		if m.columns == 0 || lipgloss.Width(row)+lipgloss.Width(gap+r) <= m.columns {
			return row + faint(gap+r)
		}
	}
	return row
}

// troublesOfAll lists what went wrong, by workload.
func troublesOfAll(all []engine.Progress) string {
	var list []string
	for _, w := range all {
		if t := troubles(w.Counters); t != noTrouble {
			list = append(list, w.Workload+": "+t)
		}
	}
	if len(list) == 0 {
		return noTrouble
	}
	return strings.Join(list, "; ")
}

// workloadRows is a row for each of several workloads, their figures below each
// other.
func workloadRows(all []engine.Progress) []string {
	columns := make([]int, 1)
	cells := make([][]string, len(all))
	for i, w := range all {
		cells[i] = workloadCells(w)
		for k, text := range cells[i] {
			if k == len(columns) {
				columns = append(columns, 0)
			}
			columns[k] = max(columns[k], lipgloss.Width(text))
		}
	}
	rows := make([]string, len(all))
	for i, row := range cells {
		for k, text := range row {
			rows[i] += "  " + text + strings.Repeat(" ", columns[k]-lipgloss.Width(text))
		}
		if all[i].Background {
			rows[i] = faint(ansi.Strip(rows[i]) + "  background")
		}
	}
	return rows
}

// workloadCells are the name of a workload and its figures.
func workloadCells(w engine.Progress) []string {
	cells := []string{strong(w.Workload)}
	switch {
	case w.Begins > 0:
		return append(cells, faint("begins in "+ticking(w.Begins, w.Begins)))
	case w.Phase == result.PhaseMeasure:
		cells = append(cells, strings.TrimPrefix(sentOf(w, func(s string) string { return s }), "sent "))
	default:
		cells = append(cells, "over")
	}
	figures := make([]string, 3)
	if w.Count > 0 {
		all := figuresOf(w, strong)
		copy(figures, all[:len(all)-1])
		figures[2] = all[len(all)-1]
	}
	cells = append(cells, figures...)
	out := "in flight " + grouped(w.InFlight)
	if w.Backlog > 0 {
		out += gap + alarm("overdue "+grouped(w.Backlog))
	}
	return append(cells, out)
}

// gap stands between the figures of a line.
const gap = "   "

// bar shows how far the phase has come.
func (m *model) bar(p engine.Progress) string {
	full, empty := "█", "░"
	if m.ascii {
		full, empty = "#", "."
	}
	width := 32 // less if the numbers after it would not fit
	if m.columns > 0 {
		width = min(width, max(8, m.columns-48))
	}
	done := width
	label := clockOf(p)
	if p.Left > 0 {
		label = ticking(p.Elapsed, p.Elapsed+p.Left) + " of " + seconds(p.Elapsed+p.Left)
	}
	if total := p.Elapsed + p.Left; p.Left > 0 && total > 0 {
		done = int(int64(width) * int64(p.Elapsed) / int64(total))
		label += gap + ticking(p.Left, total) + " left"
	}
	style := lipgloss.NewStyle().Foreground(colourOf(p.Phase, result.PhaseMeasure, phaseWarmup, ""))
	name := p.Phase + strings.Repeat(" ", max(0, 8-len(p.Phase)))
	return "  " + strong(name) + style.Render(strings.Repeat(full, done)) + faint(strings.Repeat(empty, width-done)) + "  " + label
}

// cut shortens lines to the terminal's width, so that no line wraps and moves the others.
func (m *model) cut(rows []string) []string {
	for i := range rows {
		if m.ascii {
			rows[i] = strings.ReplaceAll(rows[i], "µ", "u")
		}
		if m.columns > 0 {
			rows[i] = lipgloss.NewStyle().MaxWidth(m.columns).Render(rows[i])
		}
	}
	return rows
}
