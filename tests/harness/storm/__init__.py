"""A storm for tests of mixing: many callers, a site with every fault, and answers tagged with their requests' own names.

`shapes` says how the site answers (a request's tag decides it), `site` answers so, `callers` ask and check every tag.
Both can be processes of their own: `python -m storm.site` and `python -m storm.callers`.
"""
