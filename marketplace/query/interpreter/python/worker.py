# The process in which the system's Python runs, inside of bubblewrap. It reads one line of JSON for each call and writes one.
import json
import os
import resource
import sys

_MEMORY = 1024 * 1024 * 1024
_FILE = 64 * 1024 * 1024
_CPU_SECONDS = 900

for _limit, _most in (
    (resource.RLIMIT_AS, _MEMORY),
    (resource.RLIMIT_FSIZE, _FILE),
    (resource.RLIMIT_CPU, _CPU_SECONDS),
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_NPROC, 64),
    (resource.RLIMIT_NOFILE, 256),
):
    resource.setrlimit(_limit, (_most, _most))

# The two ends of the conversation, out of the way of whoever prints and reads.
_input = os.fdopen(os.dup(0), "r", encoding="utf-8")
_output = os.fdopen(os.dup(1), "w", encoding="utf-8")
_nothing = os.open(os.devnull, os.O_RDWR)
for _end in (0, 1, 2):
    os.dup2(_nothing, _end)

# The namespaces keep processes and connections in. That there are none at all is said in words here.
_REFUSED = ("os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen", "pty.spawn")


def _refuse(event, _arguments):
    if event in _REFUSED:
        raise PermissionError(f"{event} is not here")
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        raise PermissionError("there is no network here")


_prelude = {"__name__": "prelude"}
with open(os.path.join(os.path.dirname(__file__), "prelude.py"), encoding="utf-8") as _file:
    exec(compile(_file.read(), "prelude.py", "exec"), _prelude)

# Tried before anything is refused in words, so that it is the sandbox that is tried.
_holes = json.loads(_prelude["_holes"](json.loads(_input.readline())["port"]))
print(json.dumps({"refused": _holes} if _holes else {"ready": True, "isOffline": True}), file=_output, flush=True)
if not _holes:
    sys.addaudithook(_refuse)
    for _line in _input:
        print(_prelude["_run"](_line), file=_output, flush=True)
