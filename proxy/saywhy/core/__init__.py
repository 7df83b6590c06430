"""Decides: who asks, what a page means, what leaves. Values in, values out.

No socket, clock, file, log, metric or environment is known here, and nothing that a site sent makes it raise. The route
on one page is `normalize`; `model` holds its values in the order in which an exchange makes them.
"""
