"""Services: one capability per module, joining core and ports. None of them depends on an event loop.

Every change is an act (`act`) of a service on a transaction; `records` looks up what must exist, `polling` waits, and
`space` joins the services of one space.
"""
