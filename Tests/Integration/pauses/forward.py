#!/usr/bin/env python3
"""forward.py HOST PORT   a piece of wire that can be cut: says the port it listens on, and carries bytes to HOST:PORT.

SIGUSR1: what goes to HOST is held, what comes from there still arrives. SIGUSR2: what was held is carried on. SIGHUP:
what was held is lost, with every connection; new ones are carried. SIGSTOP holds both ways, as a cable does that was
pulled: nobody is told anything.
"""

import asyncio
import signal
import sys


class Wire:
    def __init__(self, host, port):
        self.target = (host, port)
        self.way = asyncio.Event()
        self.way.set()
        self.ends = set()

    async def carry(self, reader, writer, can_be_held):
        # Nothing is read while it is held: the rest waits at whoever sent it.
        try:
            while data := await reader.read(1 << 16):
                if can_be_held:
                    await self.way.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def connect(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection(*self.target)
        except OSError:
            return writer.close()
        ends = {writer, far_writer}
        self.ends |= ends
        await asyncio.gather(self.carry(reader, far_writer, True), self.carry(far_reader, writer, False))
        self.ends -= ends

    def lose(self):
        for end in self.ends:
            end.transport.abort()
        self.way.set()


async def main():
    wire = Wire(sys.argv[1], int(sys.argv[2]))
    server = await asyncio.start_server(wire.connect, "127.0.0.1", 0)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, wire.way.clear)
    loop.add_signal_handler(signal.SIGUSR2, wire.way.set)
    loop.add_signal_handler(signal.SIGHUP, wire.lose)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
