package report

import (
	"regexp"
	"strings"
	"testing"
)

func TestPageHeadAdmitsItsStyleAndNothingElse(t *testing.T) {
	head, err := PageHead(payload, payload)
	if err != nil {
		t.Fatal(err)
	}
	page := head + PageFoot(payload)
	if strings.Contains(page, "<script") || strings.Contains(page, "<img") {
		t.Error("the page holds what its title says")
	}
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(page)
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if style == nil || policy == nil {
		t.Fatal("the page has no style or no policy")
	}
	admitted := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy[1])
	if !strings.Contains(admitted, sourceHash(style[1])) {
		t.Errorf("the policy %s does not admit the page's style", admitted)
	}
	for _, e := range []string{"html", "head", "body", "main", "header", "footer", "h1"} {
		if strings.Count(page, "<"+e) == 0 || strings.Count(page, "</"+e+">") != 1 {
			t.Errorf("<%s> is not opened and closed once", e)
		}
	}
}
