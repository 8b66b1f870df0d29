"""A hook of an agent client: a short-lived program that finds its session and prints the session's id and agent."""

import json

from covey.core.coroutine import finish
from covey.engines import connect_inline, locate
from covey.services.directory.directory import JoinRequest
from covey.services.space import Services


def main() -> None:
    ports = connect_inline(locate(), ())
    session = finish(Services(ports).clients.hook(JoinRequest())).session
    finish(ports.close())
    print(json.dumps({"session": session.id, "agent": session.agent}))


if __name__ == "__main__":
    main()
