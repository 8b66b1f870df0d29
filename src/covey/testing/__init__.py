"""For people who write adapters or test against Covey: fakes that are turned by hand, and records to try them on.

The contract suites are in `covey.testing.contracts`, apart because they need pytest.
"""

from covey.testing.clock import HandClock
from covey.testing.deaf import DeafWakeups
from covey.testing.dying import Death, Died, DyingStore, Moment, deaths
from covey.testing.ids import CountingIds, numbered_uuid
from covey.testing.opening import (
    Locator,
    OpenLauncher,
    OpenLiveness,
    OpenSearch,
    OpenStore,
    OpenViews,
    OpenWakeups,
    Ring,
    Searched,
    Viewed,
    closing,
    silent,
)
from covey.testing.records import (
    START,
    a_binding,
    a_delivery,
    a_message,
    a_message_id,
    a_post,
    a_session,
    a_session_id,
    a_task,
    a_ticket,
    a_token,
    an_agent,
    an_event,
    an_offer,
    an_offer_id,
    at,
)

__all__ = [
    "START",
    "CountingIds",
    "DeafWakeups",
    "Death",
    "Died",
    "DyingStore",
    "HandClock",
    "Locator",
    "Moment",
    "OpenLauncher",
    "OpenLiveness",
    "OpenSearch",
    "OpenStore",
    "OpenViews",
    "OpenWakeups",
    "Ring",
    "Searched",
    "Viewed",
    "a_binding",
    "a_delivery",
    "a_message",
    "a_message_id",
    "a_post",
    "a_session",
    "a_session_id",
    "a_task",
    "a_ticket",
    "a_token",
    "an_agent",
    "an_event",
    "an_offer",
    "an_offer_id",
    "at",
    "closing",
    "deaths",
    "numbered_uuid",
    "silent",
]
