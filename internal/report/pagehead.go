package report

import (
	"fmt"
	"html"
)

// PageHead returns the beginning of a page of another package in the style of
// the reports: everything from the doctype to the opened main element and the
// title in it. kind stands beside the name of the program ("self-test"). Both
// are plain text. The page follows the reader's light or dark preference,
// prints, loads nothing, and admits no script and no style but its own.
//
// The style sheet knows: article.verdict (with .valid, .suspect or .bad) for a
// finding, span.status in its h2, p.facts, ul.reasons; p.callout; div.scroll
// around every table; table.figures for numbers flush right (td.suspect,
// td.none, td.valid, td.suspect, td.bad, span.note below a number),
// table.sheet for text, details and summary to fold away, pre, footer.
func PageHead(title, kind string) (string, error) {
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return "", err
	}
	title, kind = html.EscapeString(plain(title)), html.EscapeString(plain(kind))
	return fmt.Sprintf(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; style-src %s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="sixnines">
<title>%s – Sixnines %s</title>
<style>%s</style>
</head>
<body>
<header class="top">
<p class="brand">Sixnines <span>%s</span></p>
</header>
<main>
<h1>%s</h1>
`, html.EscapeString(sourceHash(string(style))), title, kind, style, kind, title), nil
}

// PageFoot returns the end of a page that [PageHead] began, with a sentence of
// plain text as its footer.
func PageFoot(text string) string {
	return "</main>\n<footer>\n<p>" + html.EscapeString(plain(text)) + "</p>\n</footer>\n</body>\n</html>\n"
}
