"""Plays systemd for one agent: supervise.py SOCKET COMMAND...

Listens at SOCKET, hands the socket and a notify address to the command, and says what it is told, a line each. Ends the
command with SIGTERM when its own input ends; exits with its code.
"""
import os, selectors, signal, socket, sys

path, command = sys.argv[1], sys.argv[2:]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(path)
os.chmod(path, 0o666)
listener.listen(64)
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind(path + ".notify")

# An app that comes before the agent: it waits in the socket's queue.
early = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
early.connect(path)

pid = os.fork()
if pid == 0:
    # Whatever has number 3 already makes room for the listener.
    os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    environment = dict(
        os.environ, LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), NOTIFY_SOCKET=path + ".notify", WATCHDOG_USEC="400000"
    )
    os.execve(command[0], command, environment)

said = lambda line: print(line, flush=True)
events = selectors.DefaultSelector()
events.register(notify, selectors.EVENT_READ, lambda: [said(line) for line in notify.recv(4096).decode().split("\n")])
events.register(sys.stdin, selectors.EVENT_READ, None)
is_over = False
while not is_over:
    for key, _ in events.select():
        if key.data:
            key.data()
        else:
            is_over = sys.stdin.readline() == ""
os.kill(pid, signal.SIGTERM)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
notify.setblocking(False)
try:
    while True:
        [said(line) for line in notify.recv(4096).decode().split("\n")]
except BlockingIOError:
    pass
early.setblocking(False)
try:
    said("EARLY " + ("answered" if early.recv(1) else "closed"))
except BlockingIOError:
    said("EARLY waits")
sys.exit(code)
