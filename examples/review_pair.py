"""Review pair: an author writes and a reviewer approves or names a fault, until they agree or the rounds are used up.

    python examples/review_pair.py

Each round is a request for an approval: a question that is decided once. All rounds are in one scope. Its gate opens
when nothing in the scope is owed: that is the commit step. The two agents could run in different processes, or restart
between rounds.
"""

import asyncio
import tempfile
from pathlib import Path

import covey

SCOPE = "T-17"
ROUNDS = 5


def write(draft: str, complaint: str) -> str:
    """Stand for the author's model. A real call goes here, with the draft so far and the reviewer's complaint."""
    if not draft:
        return "def parse(text): return text.split(',')"
    if "empty" in complaint:
        return "def parse(text): return text.split(',') if text else []"
    return "def parse(text: str) -> list[str]: return text.split(',') if text else []"


def judge(draft: str) -> str:
    """Stand for the reviewer's model. A real call goes here. Return the fault, or an empty text if there is none."""
    if "if text" not in draft:
        return "an empty text should give an empty list"
    return "" if "->" in draft else "the types are missing"


async def review(reviewer: covey.Member) -> None:
    """Decide on each draft that arrives, until cancelled."""
    async for request in reviewer.inbox:
        if complaint := judge(request.text):
            await request.reject(complaint)
        else:
            await request.approve("good")
        await request.archive()  # decided and archived: nothing is owed any more


async def author(me: covey.Member) -> bool:
    """Write until the reviewer approves, for at most ROUNDS rounds. Return True if the draft is approved."""
    draft = complaint = ""
    for number in range(1, ROUNDS + 1):
        draft = write(draft, complaint)
        decision = await me.request_approval("reviewer", "draft", draft, timeout=10, scope=SCOPE, round=number)
        print(f"round {number}: {decision.state}, {decision.reason}")
        if decision:
            print(draft)
            return True
        complaint = decision.reason
    return False


async def review_pair(folder: Path) -> None:
    """Let the two work until they agree, and check the gate."""
    async with covey.open(f"sqlite:{folder}/covey.db") as space:
        me, reviewer = await space.join("author"), await space.join("reviewer")
        reviewing = asyncio.create_task(review(reviewer))
        agreed = await author(me)
        reviewing.cancel()
        await asyncio.wait([reviewing])
        verdict = await space.gate(SCOPE)
        print("They agree." if agreed else f"No agreement after {ROUNDS} rounds: a person decides.")
        print("The gate is open." if verdict.passed else f"Still owed: {len(verdict.owed)}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(review_pair(Path(name)))
