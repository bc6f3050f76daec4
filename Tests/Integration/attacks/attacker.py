"""A device that keeps to no rule but the broker's: attacker.py CREDS NATS VERB [ARGUMENT...]

It speaks the protocol of Protos/caravan/v1/edge.proto with a client of NATS of its own, and prints what came of it.
"""

import asyncio
import base64
import json
import os
import sys

import nats
from caravan.v1 import edge_pb2, model_pb2, storage_pb2

creds, server, verb, *arguments = sys.argv[1:]
refusals = []


def claims():
    text = open(creds).read()
    jwt = text.split("-----BEGIN NATS USER JWT-----")[1].split("------END")[0].strip()
    body = jwt.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


me = claims()
user = [tag for tag in me["nats"]["tags"] if tag.startswith("user:")][0][5:]
mine = f"edge.{user}.{me['name']}"
inbox = f"inbox.{user}.{me['name']}"


async def noted(error):
    refusals.append(str(error))


async def connect(**more):
    options = dict(user_credentials=creds, error_cb=noted, allow_reconnect=False, connect_timeout=5)
    return await nats.connect(server, inbox_prefix=f"{inbox}.r".encode(), **(options | more))


async def exchange(connection, *operations, epoch=7):
    body = edge_pb2.Exchange(epoch=epoch, operations=operations).SerializeToString()
    frame = edge_pb2.Frame(compression=0, plain_bytes=len(body), body=body)
    answer = await connection.request(f"{mine}.exchange", frame.SerializeToString(), timeout=10)
    if answer.headers:
        return [dict(answer.headers)]
    reply = edge_pb2.ExchangeReply.FromString(edge_pb2.Frame.FromString(answer.data).body)
    return reply.results


def said(result):
    if isinstance(result, dict):
        return " ".join(result.values())
    if result.HasField("failure"):
        return f"{result.failure.code}: {result.failure.message}"
    if result.HasField("commit"):
        return "commit " + " ".join(str(result.commit).split())
    return result.WhichOneof("kind")


async def listen(seconds, *subjects):
    """Subscribes, and prints whatever comes, in hexadecimal."""
    connection = await connect()

    async def heard(message):
        print(message.subject, message.data.hex(), flush=True)

    for subject in subjects:
        await connection.subscribe(subject, cb=heard)
    await connection.flush()
    print("listening", flush=True)
    await asyncio.sleep(float(seconds))
    for refusal in refusals:
        print("refused:", refusal)


async def forge(*subjects):
    """Publishes under others' names; prints how many of them the broker refused."""
    connection = await connect()
    for subject in subjects:
        await connection.publish(subject, b"x")
        await connection.flush()
    await asyncio.sleep(0.5)
    print(len([one for one in refusals if "ermissions" in one]))


async def epochs(count, container, type):
    """Pushes a row of each of so many lives of a store; prints how many were taken."""
    connection = await connect()
    taken = 0
    for number in range(int(count)):
        epoch = int.from_bytes(os.urandom(7), "big")
        row = storage_pb2.Mutation(name=f"epoch-{number}", kind=1, based_on=0, type=int(type), body=b"")
        push = edge_pb2.Push(container=container, zone="epochs", op=1, mutations=[row])
        [result] = await exchange(connection, edge_pb2.Operation(push=push), epoch=epoch)
        taken += not isinstance(result, dict) and result.HasField("commit")
    print(taken)


async def propose(container, type, field, *settings):
    """Proposes a record type with one text field, and settings if there are any: NAME=NUMBER of TypeSettings."""
    connection = await connect()
    record = model_pb2.RecordType(name=type, fields=[model_pb2.FieldDefinition(name=field, kind=1)])
    for setting in settings:
        name, value = setting.split("=")
        setattr(record.settings, name, int(value))
    proposal = edge_pb2.ProposeTable(container=container, type=record)
    [result] = await exchange(connection, edge_pb2.Operation(propose=proposal))
    if not isinstance(result, dict) and result.HasField("type"):
        print("type", result.type.id, " ".join(str(result.type.settings).split()))
    else:
        print(said(result))


async def save(container, zone, type, name, database="private", base=None):
    """Saves a record that has nothing in it, whatever is there."""
    connection = await connect()
    row = storage_pb2.Mutation(name=name, kind=1, type=int(type), body=b"")
    if base is not None:
        row.based_on = int(base)
    push = edge_pb2.Push(container=container, zone=zone, op=1, mutations=[row], database=int(database == "public"))
    [result] = await exchange(connection, edge_pb2.Operation(push=push), epoch=int.from_bytes(os.urandom(7), "big"))
    print(said(result))


async def connections(count, seconds):
    """Opens so many connections, and keeps those it gets; prints how many it still has in the end."""
    kept = []
    for _ in range(int(count)):
        try:
            kept.append(await connect(connect_timeout=2))
        except Exception as error:
            refusals.append(str(error))
            if len(refusals) > 50:
                break
    await asyncio.sleep(float(seconds))
    print("opened", len(kept), "kept", len([one for one in kept if one.is_connected]), "refused", len(refusals))


async def subscriptions(count):
    """Subscribes so often, to what it may hear; prints how many were refused."""
    connection = await connect()
    made = 0
    try:
        for number in range(int(count)):
            await connection.subscribe(f"{inbox}.r.{number}")
            made += 1
            if number % 1000 == 999:
                await connection.flush(timeout=5)
            if refusals:
                break
    except Exception as error:
        refusals.append(str(error))
    print("made", made, "refused", len(refusals), refusals[:1])


async def main():
    await globals()[verb](*arguments)


asyncio.run(main())
