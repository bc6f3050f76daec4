"""A container of a Caravan suite, for programs on servers (MOB-56): Deploy/server-apps.md.

    shop = await Container.connect("billing.creds", "nats://127.0.0.1:4222", "shop")
    stock = await shop.read("stock", "nails")
    stock["count"] -= 1
    await shop.save(stock)

It speaks the frames of Protos/caravan/v1/edge.proto over NATS, as devices do. Copy it, or write its like in another
language: protobuf and a client of NATS are all it takes.

Needs nats-py with nkeys (pip install 'nats-py[nkeys]'), protobuf and protoc (Debian: python3-protobuf,
protobuf-compiler).
"""
import asyncio
import base64
import importlib
import itertools
import json
import pathlib
import random
import re
import ssl
import subprocess
import sys
import tempfile

import nats

PROTOS = pathlib.Path(__file__).resolve().parents[3] / "Protos"
ZONE, LOG = "_defaultZone", "_notifications"
# What becomes better by itself, under one of these codes, is asked again: under the same number, so it is done once.
TRANSIENT = {"serverBusy", "rateLimited", "unavailable", "timedOut"}
CONNECT_SECONDS, ANSWER_SECONDS, LONGEST_WAIT = 20, 10, 30


def contract():
    """Python classes of the protos that frames are made of."""
    names = ("model", "query", "storage", "edge", "notify")
    with tempfile.TemporaryDirectory(prefix="caravan-protos-") as out:
        files = [f"caravan/v1/{name}.proto" for name in names]
        subprocess.run(["protoc", f"-I{PROTOS}", f"--python_out={out}", *files], check=True)
        sys.path.insert(0, out)
        return [importlib.import_module(f"caravan.v1.{name}_pb2") for name in names]


MODEL, QUERY, STORAGE, EDGE, NOTIFY = contract()


class Refused(Exception):
    """The cloud says no, and why: `code` is one of Deploy/troubleshooting.md."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class Conflict(Exception):
    """Somebody else has written the record since it was read. `server` is what it is now; None: it is gone."""

    def __init__(self, name, server):
        super().__init__(f"record '{name}' is another one by now")
        self.server = server


class Record:
    """Values by the names of their fields, and the version (the change tag) that they were read with; 0: it is new."""

    def __init__(self, type, name, version=0, fields=()):
        self.type, self.name, self.version = type, name, version
        self._ids = {field.name: field for field in type.fields}
        self._values = {field.id: field for field in fields}

    def __getitem__(self, name):
        value = self._values.get(self._ids[name].id)
        kind = value.WhichOneof("value") if value is not None else None
        if kind == "list":
            return next((list(items) for _, items in value.list.ListFields()), [])
        return getattr(value, kind) if kind else None

    def __setitem__(self, name, value):
        definition = self._ids[name]
        field = MODEL.Field(id=definition.id)
        if isinstance(value, (list, tuple)):
            kinds = {str: "texts", int: "integers", float: "reals", bytes: "data"}
            field.list.SetInParent()
            if value:
                getattr(field.list, kinds[type(value[0])]).extend(value)
        elif value is not None:
            setattr(field, {str: "text", int: "integer", float: "real", bytes: "data"}[type(value)], value)
        self._values[definition.id] = field

    def body(self):
        """Fields that this program does not know stay as they are."""
        return MODEL.Fields(fields=[self._values[id] for id in sorted(self._values)]).SerializeToString()


class Container:
    """One container's public database, and the notifications of what this program subscribes to there."""

    @classmethod
    async def connect(cls, creds, url, container, tls_ca=None):
        self = cls()
        self.container = container
        body = re.search(r"-+BEGIN NATS USER JWT-+\s*\S+?\.(\S+?)\.", pathlib.Path(creds).read_text())[1]
        tags = [tag.split(":", 1) for tag in json.loads(base64.urlsafe_b64decode(body + "=="))["nats"]["tags"]]
        user = next(value for key, value in tags if key == "user")
        name = next((value for key, value in tags if key == "container" and value.split("_")[0] == container), None)
        if name is None:
            raise Refused("zoneDoesNotExist", f"these credentials are not for the container '{container}'")
        self._edge, self._inbox = f"edge.{user}.{name}.exchange", f"inbox.{user}.{name}"
        # Operations are numbered within an epoch, which is another one each time the program starts.
        self._epoch, self._numbers, self._types = random.getrandbits(62) + 1, itertools.count(1), {}
        self._underway, self._told, self._number, self._is_attached = set(), asyncio.Event(), 0, False
        # Whom the broker does not let in, as nobody whose credentials were revoked, would try for ever.
        self._connection = await asyncio.wait_for(nats.connect(
            url, user_credentials=creds, inbox_prefix=f"{self._inbox}.r".encode(), max_reconnect_attempts=-1,
            tls=ssl.create_default_context(cafile=tls_ca) if tls_ca else None, reconnected_cb=self._reconnected,
            closed_cb=self._closed), CONNECT_SECONDS)
        return self

    async def close(self):
        await self._connection.close()

    # Frames

    async def ask(self, **operation):
        """One operation (edge.proto), again until it is answered, and its result."""
        body = EDGE.Exchange(epoch=self._epoch, operations=[EDGE.Operation(**operation)]).SerializeToString()
        frame = EDGE.Frame(plain_bytes=len(body), body=body, plain_answer=True).SerializeToString()
        for attempt in itertools.count():
            failure = None
            try:
                answer = await self._connection.request(self._edge, frame, timeout=ANSWER_SECONDS)
                if answer.headers:  # the frame as a whole is refused
                    failure = MODEL.Failure.FromString(answer.data)
                else:
                    reply = EDGE.ExchangeReply.FromString(EDGE.Frame.FromString(answer.data).body).results[0]
                    if reply.WhichOneof("kind") != "failure":
                        return getattr(reply, reply.WhichOneof("kind"))
                    failure = reply.failure
            except (nats.errors.TimeoutError, nats.errors.NoRespondersError):
                pass
            if failure is not None and failure.code not in TRANSIENT:
                raise Refused(failure.code, failure.message)
            wait = failure.retry_after_milliseconds / 1000 if failure is not None else 0
            await asyncio.sleep(max(wait, min(0.1 * 2**attempt, LONGEST_WAIT) * random.uniform(0.5, 1)))

    # Records

    async def type(self, name):
        """A record type of the container's schema."""
        if name not in self._types:
            wanted = MODEL.RecordType(name=name)
            proposal = EDGE.ProposeTable(container=self.container, type=wanted, partial=True)
            self._types[name] = await self.ask(propose=proposal)
        return self._types[name]

    def _record(self, type, entry):
        return Record(type, entry.name, entry.version, MODEL.Fields.FromString(entry.body).fields)

    async def new(self, type, name):
        """A record that is not there yet; `save` makes it."""
        return Record(await self.type(type), name)

    async def read(self, type, name):
        """The record as it is now; None: it is not there, or not for this program to see."""
        known = await self.type(type)
        read = EDGE.ReadRecords(
            container=self.container, zone=ZONE, names=[name], database=EDGE.DATABASE_SCOPE_PUBLIC, type=known.id)
        entries = (await self.ask(read=read)).entries
        return self._record(known, entries[0]) if entries and not entries[0].deleted else None

    async def query(self, type, text="", *arguments):
        """Each record that a query finds, written as in Shared/Values/Query/README.md."""
        request = QUERY.QueryRequest(type=type, text=text)
        for value in arguments:
            request.arguments.append(MODEL.Field(**{"text" if isinstance(value, str) else "integer": value}))
        while True:
            question = EDGE.AskQuery(
                container=self.container, database=EDGE.DATABASE_SCOPE_PUBLIC, request=request.SerializeToString())
            reply = QUERY.QueryReply.FromString((await self.ask(query=question)).answer)
            for hit in reply.hits:
                yield self._record(reply.type, hit.entry)
            if not reply.cursor:
                return
            request.cursor = reply.cursor

    async def save(self, record):
        """Saves over the version that was read, and gives the record its new one. Raises Conflict or Refused."""
        change = STORAGE.Mutation(
            kind=STORAGE.MUTATION_KIND_SAVE, type=record.type.id, body=record.body(), based_on=record.version)
        return await self._push(record, change)

    async def delete(self, record):
        return await self._push(record, STORAGE.Mutation(
            kind=STORAGE.MUTATION_KIND_DELETE, type=record.type.id, based_on=record.version))

    async def _push(self, record, mutation):
        number = next(self._numbers)
        mutation.name = record.name
        self._underway.add(number)
        try:
            outcome = (await self.ask(push=EDGE.Push(
                container=self.container, zone=ZONE, op=number, op_floor=min(self._underway), mutations=[mutation],
                database=EDGE.DATABASE_SCOPE_PUBLIC))).outcomes[0]
        finally:
            self._underway.discard(number)
        server = self._record(record.type, outcome.server) if outcome.HasField("server") else None
        if outcome.verdict == STORAGE.VERDICT_ACCEPTED:
            record.version = outcome.version
            return record
        if outcome.verdict == STORAGE.VERDICT_MERGED:  # the type has a policy for conflicts
            return server
        if outcome.verdict == STORAGE.VERDICT_CONFLICT:
            raise Conflict(record.name, server if server is not None and not outcome.server.deleted else None)
        raise Refused(outcome.failure.code, outcome.failure.message)

    # Changes

    async def subscribe(self, id, type="", text="", events=("enters", "leaves", "changes"), template=None):
        """Has the cloud write down what happens to an answer, until that is told otherwise; one of this id is replaced.

        In production a template of the schema says what (Deploy/containers.md).
        """
        wanted = QUERY.StandingQuery(id=id)
        if template is not None:
            wanted.source.name = template
        else:
            wanted.records.MergeFrom(
                QUERY.StandingRecords(type=type, text=text, **{event: True for event in events}))
        request = QUERY.SubscriptionsRequest(save=wanted)
        await self.ask(subscriptions=EDGE.AskSubscriptions(
            container=self.container, database=EDGE.DATABASE_SCOPE_PUBLIC, request=request.SerializeToString()))

    async def follow(self, token=b""):
        """What was written down since `token`, and then what comes: lists of notifications, with the token after each.

        Keep the token once a list is done with. Without one everything comes that is still there: the last 1,000 of
        each source, for 30 days. `missed` as a reason says that more happened than is there: ask anew.
        """
        log = await self.type(LOG)
        await self._connection.subscribe(f"{self._inbox}.notify", cb=self._notified)
        while True:
            self._told.clear()
            number, self._number = self._number, 0
            if not self._is_attached:
                await self._attach()
            while True:
                page = await self.ask(pull=EDGE.Pull(container=self.container, zone=LOG, token=token))
                entries = MODEL.EntryPage.FromString(page.page).entries
                token = page.token
                found = [self._record(log, entry) for entry in entries if not entry.deleted]
                if found:
                    yield found, token
                if not page.more and not page.reset_required:
                    break
            # Whoever has not said that they have it is told again: nothing depends on one message.
            if number:
                await self.ask(ack=EDGE.AckNotification(number=number))
            await self._told.wait()
            if self._connection.is_closed:  # its credentials were revoked
                raise nats.errors.ConnectionClosedError

    async def _attach(self):
        self._is_attached = True
        wanted = EDGE.ZoneSubscription(container=self.container, zone=LOG, told_only=True)
        await self.ask(subscribe=EDGE.Subscribe(generation=1, subscriptions=[wanted]))

    async def _notified(self, message):
        self._number = NOTIFY.Notification.FromString(message.data).number
        self._told.set()

    async def _reconnected(self):
        self._is_attached = False
        self._told.set()

    async def _closed(self):
        self._told.set()
