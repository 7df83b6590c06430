"""Rule packs: what a response that looks like this means. First match wins.

Here live the shape of pack files, the conditions, the pass over a page for literals, and the rulebook; no file
is read here (saywhy.edge.packs does that), and no tree is built here (saywhy.core.page does that). The route: shape
(what authors write, of parts) -> checks (what they may not) -> groups, headtests, pagetests (compiled conditions), compiled (a rule of them) -> prefilter
(which rules are worth a look) -> rulebook (in order, first match) -> extract (what it says).

For authors of packs
====================

A pack file has `pack`, `about`, `rules` and, where a route must name the pack for it to count, `opt_in: true`. A rule
has `id`, `about`, `when`, `then` and, as needed, `mode: shadow`, `on_success: rewrite | annotate`,
`outranks_failure: true`. All keys of `when` must hold (all); `any`, `all` and `not` hold a group or a list of groups
(`not`: none of them). Unknown keys are errors.

status      403, 4xx, 500-599, or a list.
method, host, path
            a text or a list; host and path take `*`, which in a path stays within a segment (`**` does not). The path is
            the raw target without its query.
header      {name: test, ...}, all of them. A test is true (present), false (absent), a value (without regard to case, `*`
            is any run of characters), a list of values, or {is: [...], re: '...'}. Each line of a repeated field is tried.
cookie      a name, a list of names, or {name: test}: cookies that the response sets; `*` in names too.
media       html, json, xml, text, binary, empty (what the body is), or media types as sent (text/*), or a list.
title       a text or a list (contained, any of), or {any: [...], is: [...], re: '...'}; `is` is the whole title.
contains    a text or a list (any of), or {any: [...], all: [...], in: text | source | title}; case-folded for every script
            (Turkish i's and typographic apostrophes too), in the visible text (entities decoded, white space folded) or
            the source. The text of JSON is its strings.
matches     an RE2 expression or a list (any of), or {re: ..., in: text | source | title}. Needs a cheap condition beside
            it (contains, title, status, header, cookie, host, path).
select      a CSS selector or {css: ..., text: RE2, attr: {name: test}}: the first element that it finds. A list: any of.
script      where a script comes from: host (names below it included), host/path, or /path on any host; globs.
json        {pointer: /error/code, value: x | [x, y], re: '...', exists: true | false}, or a list of them (all must hold), or
            {/error/code: x, /ok: false} for equality.
jsonld      {type: Product | [...], availability: [OutOfStock, SoldOut], every: true}. Reads JSON-LD, and microdata
            (itemprop=availability), RDFa (property=availability) and product metas (product:availability) where an
            availability stands in them. Subtypes count. Availabilities in any spelling (URL, words, case; oos). Without
            `every`: some entity of the type. With it: all offers, variants included, of the one thing that the page is
            about; related products and listings do not count, and an offer that names no availability fails it.
size        {bytes: 5000, text: 300}: at most so many decoded bytes, so many visible characters; or ranges (100-5000). A page
            that was cut has no size and fails it.

`then` has code (a known one or the site's own), message, field, retry_after (seconds), documentation_url, continue_url,
alternatives (a list of mappings) and extract. `extract` has, by name, one of {css: ..., attr: ...}, {json: /pointer},
{header: name}, each with re and group (1) if wanted, or {re: ..., group: 1, in: text | source | title} alone; unit:
minutes | hours for retry_after. A value named as a member of `then` becomes that member where it is found (the constant
is what is said otherwise); any other name is for `{name}` in the texts.

Promises: below 400 only rules with on_success speak, and they need two independent conditions or one exact vendor
header; at 5xx only rules with outranks_failure, and rules whose code is the status's own anyway.
"""

from saywhy.core.rules.compiled import RuleInfo
from saywhy.core.rules.exam import Work
from saywhy.core.rules.rulebook import Match, Rulebook, Step
from saywhy.core.rules.shape import rules_schema

__all__ = ["Match", "RuleInfo", "Rulebook", "Step", "Work", "rules_schema"]
