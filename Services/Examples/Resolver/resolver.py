#!/usr/bin/env python3
"""A server extension (CK-36): decides conflicts of one record type, in Python.

    caravan schema set --container C --type T --conflicts serverExtension
    caravan extension add --container C --type T --out resolver.creds
    resolver.py --creds resolver.creds [--nats URL] [--tls-ca FILE] C T

Sync asks at `ext.C.T` when two devices have changed one record of a type with that policy. This one takes both sides'
changes, adds up what both did to a number, and joins texts that differ. It keeps no state: start as many as you like,
each dispute goes to one of them. Who is not there in time harms nothing, the type's fallback decides.

Needs nats-py with nkeys (pip install 'nats-py[nkeys]'), protobuf and protoc (Debian: python3-protobuf,
protobuf-compiler).
"""
import argparse
import asyncio
import importlib
import pathlib
import ssl
import subprocess
import sys
import tempfile

import nats

PROTOS = pathlib.Path(__file__).resolve().parents[3] / "Protos"


def contract():
    """Python classes of Protos/caravan/v1/extension.proto and what it imports."""
    names = [f"caravan/v1/{name}.proto" for name in ("model", "query", "storage", "extension")]
    load = importlib.import_module
    with tempfile.TemporaryDirectory(prefix="caravan-protos-") as out:
        subprocess.run(["protoc", f"-I{PROTOS}", f"--python_out={out}", *names], check=True)
        sys.path.insert(0, out)
        return load("caravan.v1.model_pb2"), load("caravan.v1.extension_pb2")


MODEL, EXTENSION = contract()


def fields(body):
    """Fields of a record by their ids."""
    return {field.id: field for field in MODEL.Fields.FromString(body).fields}


def decide(dispute):
    """Three copies in, one record out."""
    client, server, ancestor = fields(dispute.client), fields(dispute.server), fields(dispute.ancestor)
    merged = dict(server)
    for number in client.keys() | (set() if dispute.partial else server.keys()):
        ours, theirs, before = (copy.get(number) for copy in (client, server, ancestor))
        if ours == theirs or ours == before:
            continue
        if theirs == before or ours is None or theirs is None:
            merged[number] = ours
        else:
            merged[number] = both(ours, theirs, before)
    kept = [merged[number] for number in sorted(merged) if merged[number] is not None]
    return EXTENSION.Decision(merged=MODEL.Fields(fields=kept).SerializeToString())


def both(ours, theirs, before):
    """A field that both sides changed."""
    value = type(ours)()
    value.CopyFrom(ours)
    if ours.HasField("integer") and theirs.HasField("integer"):
        base = before.integer if before is not None and before.HasField("integer") else 0
        value.integer = ours.integer + theirs.integer - base
    elif ours.HasField("text") and theirs.HasField("text"):
        value.text = " / ".join(sorted({ours.text, theirs.text}))
    return value


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nats", default="nats://127.0.0.1:4222", metavar="URL")
    parser.add_argument("--creds", required=True, metavar="FILE")
    parser.add_argument("--tls-ca", metavar="FILE")
    parser.add_argument("container")
    parser.add_argument("type")
    options = parser.parse_args()
    tls = ssl.create_default_context(cafile=options.tls_ca) if options.tls_ca else None
    connection = await nats.connect(options.nats, user_credentials=options.creds, tls=tls, max_reconnect_attempts=-1)

    async def answer(message):
        dispute = EXTENSION.Dispute.FromString(message.data)
        await message.respond(decide(dispute).SerializeToString())
        print(f"decided {dispute.record} of {dispute.container}", flush=True)

    subject = f"ext.{options.container}.{options.type}"
    await connection.subscribe(subject, queue="resolver", cb=answer)
    await connection.flush()
    print(f"ready at {subject}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
