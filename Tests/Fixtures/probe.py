#!/usr/bin/env python3
"""A device that speaks the edge protocol by hand, for what no app does: public records with references, a group that
stays open, a lock, a reader in the middle of a snapshot, an op whose outcome is kept.

    probe.py --nats URL --creds FILE --user U --device D WHAT

Needs what Services/Examples/Resolver needs.
"""
import argparse
import asyncio
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile

import nats

PROTOS = pathlib.Path(__file__).resolve().parents[2] / "Protos"
EPOCH = 77


def contract():
    names = [f"caravan/v1/{name}.proto" for name in ("model", "query", "storage", "edge")]
    with tempfile.TemporaryDirectory(prefix="caravan-protos-") as out:
        subprocess.run(["protoc", f"-I{PROTOS}", f"--python_out={out}", *names], check=True)
        sys.path.insert(0, out)
        return [importlib.import_module(f"caravan.v1.{name}_pb2") for name in ("model", "storage", "edge")]


MODEL, STORAGE, EDGE = contract()


def body(**fields):
    """f1='text', f2=3, f3=('target', kind)"""
    made = []
    for name, value in fields.items():
        field = MODEL.Field(id=int(name[1:]))
        if isinstance(value, str):
            field.text = value
        elif isinstance(value, int):
            field.integer = value
        else:
            field.reference.target, field.reference.kind = value
        made.append(field)
    return MODEL.Fields(fields=made).SerializeToString()


def save(name, kind, content, based_on=0):
    return STORAGE.Mutation(name=name, kind=STORAGE.MUTATION_KIND_SAVE, based_on=based_on, type=kind, body=content)


class Device:
    def __init__(self, connection, user, device):
        self.connection, self.subject = connection, f"edge.{user}.{device}.exchange"

    async def ask(self, **operation):
        exchange = EDGE.Exchange(epoch=EPOCH, operations=[EDGE.Operation(**operation)]).SerializeToString()
        frame = EDGE.Frame(plain_bytes=len(exchange), body=exchange).SerializeToString()
        answer = await self.connection.request(self.subject, frame, timeout=10)
        frame = EDGE.Frame.FromString(answer.data)
        content = frame.body
        if frame.compression == EDGE.Frame.ZSTD:
            import zstandard

            content = zstandard.ZstdDecompressor().decompress(content, max_output_size=frame.plain_bytes)
        result = EDGE.ExchangeReply.FromString(content).results[0]
        if result.HasField("failure"):
            raise RuntimeError(f"{operation}: {result.failure}")
        return result

    async def type(self, container, name, *fields):
        wanted = MODEL.RecordType(name=name)
        for number, (field, kind) in enumerate(fields, 1):
            wanted.fields.add(id=number, name=field, kind=kind)
        return (await self.ask(propose=EDGE.ProposeTable(container=container, type=wanted))).type.id


async def public(device):
    """Records that stand alone in a default zone, with plain references, one of them deleted."""
    kind = await device.type(
        "album", "place", ("title", MODEL.FIELD_KIND_TEXT), ("country", MODEL.FIELD_KIND_REFERENCE))
    mutations = [
        save("sweden", kind, body(f1="Sweden")),
        save("norway", kind, body(f1="Norway")),
        save("kiruna", kind, body(f1="Kiruna", f2=("sweden", MODEL.REFERENCE_KIND_UNSPECIFIED))),
        save("oslo", kind, body(f1="Oslo", f2=("norway", MODEL.REFERENCE_KIND_UNSPECIFIED))),
        STORAGE.Mutation(name="oslo", kind=STORAGE.MUTATION_KIND_DELETE),
    ]
    for op, mutation in enumerate(mutations, 1):
        await device.ask(push=EDGE.Push(
            container="album", zone="_defaultZone", op=op, mutations=[mutation], database=EDGE.DATABASE_SCOPE_PUBLIC))


async def references(device):
    """Cities that go with their country, and a visit that keeps a city."""
    kind = await device.type(
        "journal", "trips", ("title", MODEL.FIELD_KIND_TEXT), ("country", MODEL.FIELD_KIND_REFERENCE),
        ("visited", MODEL.FIELD_KIND_REFERENCE))

    async def push(op, *mutations):
        await device.ask(push=EDGE.Push(container="journal", zone="trips", op=op, mutations=mutations))

    await push(31, save("sweden", kind, body(f1="Sweden")), save("norway", kind, body(f1="Norway")))
    await push(
        32, save("kiruna", kind, body(f1="Kiruna", f2=("sweden", MODEL.REFERENCE_KIND_OWNING))),
        save("oslo", kind, body(f1="Oslo", f2=("norway", MODEL.REFERENCE_KIND_OWNING))))
    await push(33, save("visit", kind, body(f1="in July", f3=("kiruna", MODEL.REFERENCE_KIND_VALIDATING))))
    # Oslo goes with Norway: two tombstones.
    await push(34, STORAGE.Mutation(name="norway", kind=STORAGE.MUTATION_KIND_DELETE))


async def kept(device):
    """Ops of a private zone, of which the outcome of the last is not yet known to its device, as it never says more;
    and one that found a conflict."""
    kind = await device.type("journal", "days", ("text", MODEL.FIELD_KIND_TEXT), ("mood", MODEL.FIELD_KIND_INTEGER))
    answers = {}
    for op, mutations in (
        (11, [save("monday", kind, body(f1="rain", f2=3)), save("tuesday", kind, body(f1="sun", f2=5))]),
        (12, [save("monday", kind, body(f1="another rain", f2=1))]),
    ):
        answer = await device.ask(push=EDGE.Push(container="journal", zone="days", op=op, mutations=mutations))
        answers[str(op)] = {
            "mutations": [
                {"name": m.name, "type": m.type, "body": m.body.hex(), "basedOn": m.based_on} for m in mutations],
            "answer": answer.commit.SerializeToString().hex(),
        }
    print(json.dumps(answers))


async def group(device):
    """One group that is committed, one that stays open under a lock."""
    kind = await device.type("journal", "days", ("text", MODEL.FIELD_KIND_TEXT), ("mood", MODEL.FIELD_KIND_INTEGER))
    for op in (21, 22):
        where = {"container": "journal", "zone": "days", "op": op}
        await device.ask(begin_group=EDGE.BeginGroup(**where))
        for part in range(2):
            rows = [save(f"group-{op}-{part}-{n}", kind, body(f1=f"row {n}", f2=n)) for n in range(3)]
            await device.ask(upload=EDGE.UploadPart(part=part, mutations=rows, **where))
        if op == 21:
            await device.ask(commit_group=EDGE.CommitGroup(parts=2, atomic=True, **where))
    await device.ask(lock=EDGE.LockDatabase(container="journal", ttl_milliseconds=60_000))


async def snapshot(device):
    """Reads a page of a snapshot and stays there."""
    await device.ask(pull=EDGE.Pull(container="album", zone="photos", snapshot=True, max_bytes=400))


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("nats", "creds", "user", "device"):
        parser.add_argument(f"--{flag}", required=True)
    parser.add_argument("what", choices=["public", "references", "kept", "group", "snapshot"])
    options = parser.parse_args()
    connection = await nats.connect(
        options.nats, user_credentials=options.creds, inbox_prefix=f"inbox.{options.device}".encode())
    await globals()[options.what](Device(connection, options.user, options.device))
    await connection.close()


asyncio.run(main())
