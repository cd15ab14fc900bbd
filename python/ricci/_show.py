"""Plans as notebooks show them: what is moved and predicted, then the generated source."""
import html as _html
import re

_TOKENS = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<directive>^[ \t]*#[^\n]*)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<keyword>\b(?:alignas|asm|auto|bool|break|case|char|class|const|constexpr|continue|default|do|double|else|enum"
    r"|extern|float|for|if|inline|int|long|namespace|noexcept|return|short|signed|sizeof|static|static_cast|struct|switch"
    r"|template|this|typedef|typename|union|unsigned|using|void|volatile|while|__[a-z_]+__|__shared__)\b)"
    r"|(?P<number>\b(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)[a-zA-Z]*\b)",
    re.M | re.S,
)
_COLOURS = {"comment": "#6a737d", "directive": "#6f42c1", "string": "#22863a", "keyword": "#d73a49", "number": "#005cc5"}


def highlight(source):
    """C++ or CUDA as HTML, in colours that can be read on white and on black."""
    made, place = [], 0
    for token in _TOKENS.finditer(source):
        made.append(_html.escape(source[place : token.start()]))
        made.append(f'<span style="color:{_COLOURS[token.lastgroup]}">{_html.escape(token.group())}</span>')
        place = token.end()
    made.append(_html.escape(source[place:]))
    return "".join(made)


def _rows(plan):
    info = plan.info
    chosen = [candidate for candidate in plan.candidates() if candidate.chosen]
    predicted = sum(candidate.predicted_us for candidate in chosen)
    yield "kernel", info.kernel or "none: there is nothing to run"
    yield "schedule", f"{info.schedule} ({info.choice})"
    yield "compulsory traffic", f"{info.compulsory_bytes:,} bytes"
    yield "arithmetic", f"{info.flops:,.0f} operations"
    yield "workspace", f"{info.workspace_bytes:,} bytes"
    if predicted > 0:
        yield "predicted", f"{predicted:,.2f} µs, {info.compulsory_bytes / predicted / 1e3:,.1f} GB/s"
    yield "made", f"from {info.origin}; planned {info.plan_ms:.1f} ms, compiled {info.compile_ms:.1f} ms"


def html(plan):
    """A table of a plan's figures, and its source behind a fold."""
    rows = "".join(
        f'<tr><th style="text-align:left">{_html.escape(name)}</th><td style="text-align:left">{_html.escape(text)}</td></tr>'
        for name, text in _rows(plan)
    )
    return (
        f"<table>{rows}</table><details><summary>source for {_html.escape(plan.device)}</summary>"
        f'<pre style="line-height:1.25">{highlight(plan.source)}</pre></details>'
    )
