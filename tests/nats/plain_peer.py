# pyright: basic
import asyncio, json, sys, uuid, datetime, nats  # noqa: E401, I001


async def main(url, agent, goal, text):
    broker, me = await nats.connect(url), str(uuid.uuid4())
    inbox = await broker.subscribe(f"agent.inbox.{me}")
    sent_at = datetime.datetime.now(datetime.UTC).isoformat()
    message = {"from_agent_id": agent, "from_goal_id": me, "to_agent_id": "coder", "body": text, "sent_at": sent_at}
    await broker.publish(f"agent.inbox.{goal}", json.dumps(message).encode())
    print((await inbox.next_msg(20)).data.decode(), flush=True)


asyncio.run(main(*sys.argv[1:]))
