"""Builds the site from the repository as it is: the pages that the navigation
names keep their paths, so that their links hold in both. What else they link to,
such as sources and example scenarios, becomes a page that shows it."""

import os
import re

from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")
PICTURES = (".png", ".svg")
SHIM = "tools/site/iframe-worker/index.js"
# Sources are not what people search the documents for.
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"


def named(nav):
    """The pages of a navigation, in its order."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for below in nav.values():
            yield from named(below)
    else:
        for below in nav:
            yield from named(below)


def outside_code(markdown):
    """The lines of a document, and whether each is outside blocks of code."""
    fenced = False
    for line in markdown.split("\n"):
        edge = line.lstrip().startswith("```")
        yield line, not fenced and not edge
        fenced ^= edge


def target(page, link):
    """The path that a page's link leads to, from the root of the repository."""
    return os.path.normpath(os.path.join(os.path.dirname(page), link))


def shown(path):
    """The page that shows what is at a path that is no page itself."""
    return "source/" + path.replace("/", "-") + ".md"


def show(path):
    """A file in a block of code, or the names of what is in a directory."""
    full = os.path.join(ROOT, path)
    if os.path.isdir(full):
        names = [os.path.join(path, n) for n in sorted(os.listdir(full)) if not n.endswith("_test.go")]
        names = [n for n in names if os.path.isfile(os.path.join(ROOT, n))]
        lines = [f"- [{os.path.basename(n)}]({os.path.basename(shown(n))})" for n in names]
        return f"{UNSEARCHED}# {path}\n\n" + "\n".join(lines) + "\n", names
    with open(full, encoding="utf-8") as f:
        text = f.read().rstrip("\n")
    language = os.path.splitext(path)[1][1:] or "text"
    search = "" if path.startswith("examples/") else UNSEARCHED
    return f"{search}# {path}\n\n````{language}\n{text}\n````\n", []


def on_config(config):
    config.extra["polyfills"] = [SHIM]  # named so that the offline plugin asks for no other
    return config


def on_files(files, config):
    for f in [f for f in files if f.src_dir == config.docs_dir]:
        files.remove(f)
    pages = list(named(config.nav))
    add = lambda path: files.append(File.generated(config, path, abs_src_path=os.path.join(ROOT, path)))
    for part in [SHIM, *config.extra_css]:
        add(part)
    todo = []
    for page in pages:
        add(page)
        with open(os.path.join(ROOT, page), encoding="utf-8") as f:
            lines = [line for line, prose in outside_code(f.read()) if prose]
        for found in LINK.finditer("\n".join(lines)):
            path = target(page, found[2])
            if not os.path.exists(os.path.join(ROOT, path)) or path in pages or files.get_file_from_path(path):
                continue
            if path.endswith(PICTURES):
                add(path)
            elif os.path.join(path, "README.md") not in pages:
                todo.append(path)
    while todo:
        path = todo.pop()
        if files.get_file_from_path(shown(path)) is None:
            text, below = show(path)
            files.append(File.generated(config, shown(path), content=text))
            todo += below
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri

    def lead(found):
        path = target(here, found[2])
        for to in (path, os.path.join(path, "README.md"), shown(path)):
            if files.get_file_from_path(to):
                return found[1] + os.path.relpath(to, os.path.dirname(here)) + found[3]
        return found[0]

    if here.startswith("source/"):
        return markdown
    return "\n".join(LINK.sub(lead, line) if prose else line for line, prose in outside_code(markdown))
