"""What run has a server app try: attempts.py CREDS NATS VERB [ARGUMENT...]"""

import asyncio
import pathlib
import sys

import nats

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "Services/Examples/ServerApp"
sys.path.insert(0, str(EXAMPLE))
from caravan_server import EDGE, MODEL, STORAGE, Conflict, Container, Refused  # noqa: E402

creds, server, verb, *arguments = sys.argv[1:]


async def conflict(go):
    """Reads, waits until the file is there, saves over what it read, and resolves; prints what it saw."""
    shop = await Container.connect(creds, server, "shop")
    stock = await shop.read("stock", "nails")
    print("read", flush=True)
    while not pathlib.Path(go).exists():
        await asyncio.sleep(0.05)
    stock["count"] -= 1
    try:
        await shop.save(stock)
        print("no conflict")
    except Conflict as found:
        print("conflict", found.server["count"])
        found.server["count"] -= 1
        saved = await shop.save(found.server)
        print("saved", saved["count"], [one["count"] async for one in shop.query("stock", "count > ?", 0)])
    for name in ("none", "screws"):
        try:
            made = await shop.new("stock", name)
            made["count"] = 5
            made = await shop.save(made)
            await shop.delete(made)
            print("made and deleted", name, await shop.read("stock", name))
        except Conflict as found:
            print("taken", name, found.server["count"])


async def frames(row):
    """Names what is not its own in frames of its own; prints each answer's code."""
    shop = await Container.connect(creds, server, "shop")

    async def code(**operation):
        try:
            await shop.ask(**operation)
            return "taken"
        except Refused as refused:
            return refused.code

    public = EDGE.DATABASE_SCOPE_PUBLIC
    for container in ("diary", "nowhere", "caravan"):
        change = STORAGE.Mutation(name="a", kind=1, type=1)
        print(container, *[await code(**operation) for operation in (
            {"read": EDGE.ReadRecords(container=container, zone="_defaultZone", names=["secret"], database=public)},
            {"pull": EDGE.Pull(container=container, zone="notes")},
            {"push": EDGE.Push(container=container, zone="_defaultZone", op=1, mutations=[change], database=public)},
            {"propose": EDGE.ProposeTable(container=container, type=MODEL.RecordType(name="x"))},
            {"zones": EDGE.ListZones(container=container)},
        )])
    # Its private database is another one than ada's, whose row has this name.
    read = EDGE.ReadRecords(container="shop", zone="notes", names=[row])
    print("private", len((await shop.ask(read=read)).entries))


async def broker(user):
    """Publishes and subscribes to what is not its own; prints how much of it the broker refused."""
    refusals = []

    async def noted(error):
        refusals.append(str(error))

    connection = await nats.connect(server, user_credentials=creds, error_cb=noted, allow_reconnect=False)
    places = ["diary_1", "shop_2", "shop_1_production"]
    subjects = [f"edge.server--billing.{place}.exchange" for place in places] + [
        f"edge.{user}.phone_1.exchange", "edge.server--billing.shop_1.renew", "svc.storage.1.commit",
        "svc.schema.propose", "$SYS.REQ.CLAIMS.UPDATE", "inbox.server--billing.shop_1.notify", "$SRV.PING"]
    for subject in subjects:
        await connection.publish(subject, b"x")
    wild = [">", "*", "edge.>", "inbox.>", "inbox.server--billing.>", "inbox.*.*.notify", "svc.>", "changes.*",
            "$SRV.>", "$SYS.>", f"inbox.{user}.phone_1.>", "inbox.server--billing.shop_2.>", "_INBOX.>"]
    heard = []

    async def hear(message):
        heard.append(message.subject)

    for subject in wild:
        await connection.subscribe(subject, cb=hear)
    await connection.flush()
    await asyncio.sleep(1)
    print("published", len(subjects), "subscribed", len(wild), "refused", len(refusals), "heard", len(heard))


async def other():
    """A container that the credentials are not for."""
    try:
        await Container.connect(creds, server, "diary")
    except Refused as refused:
        print(refused)


asyncio.run(globals()[verb](*arguments))
