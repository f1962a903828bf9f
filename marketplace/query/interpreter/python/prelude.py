# What the code of a call finds in Python, the same on every backend, and how a call is run. Nothing here keeps anybody in: that
# is the sandbox's work. What it does is to hand over what was computed in one bounded piece of JSON.
import base64
import contextlib
import datetime
import io
import json
import math
import os
import sys
import traceback

_MAX_STDOUT = 64 * 1024
_MAX_RESULT = 1024 * 1024
_MAX_ARTIFACTS = 4
_MAX_ROWS = 5000
_MAX_IMAGE = 2 * 1024 * 1024
_MAX_MESSAGE = 2000
_PNG = b"\x89PNG\r\n\x1a\n"


# Tools fetch, and Python computes with what they have answered. Nothing here has a network to fetch with; whoever tries hears so at
# the import, and not as a failure of the network, even where a distribution has brought these along.
_FETCHING = frozenset("aiohttp httpx requests urllib3 yfinance".split())


class _NoFetching:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in _FETCHING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


sys.meta_path.insert(0, _NoFetching)


class _Bounded(io.TextIOBase):
    # Keeps the beginning of what is printed, and counts the rest.
    def __init__(self):
        self.kept = []
        self.room = _MAX_STDOUT
        self.lost = 0

    def writable(self):
        return True

    def write(self, text):
        if len(text) > self.room:
            self.lost += len(text) - self.room
            text, written = text[: self.room], len(text)
        else:
            written = len(text)
        if text:
            self.kept.append(text)
            self.room -= len(text)
        return written

    def text(self):
        more = f"\n[{self.lost} more characters]" if self.lost else ""
        return "".join(self.kept) + more


class _Call:
    def __init__(self):
        self.result = None
        self.has_result = False
        self.charts = []
        self.images = []


_call = _Call()


def _is_frame(value):
    return hasattr(value, "to_dict") and hasattr(value, "columns")


def _is_labelled(index):
    # By a name, or by something else than the numbers that rows have anyhow.
    return any(name is not None for name in index.names) or index.dtype.kind not in "iu"


def _records(frame):
    # What rows are called by, such as a time, is a column like any other, and not lost.
    if _is_labelled(frame.index):
        with contextlib.suppress(ValueError):
            frame = frame.reset_index()
    return frame.to_dict("records")


def _labelled(series):
    # Where two would have one name, each is a row; and a pair, where the values are called what their names are.
    if series.index.map(str).is_unique:
        return series.to_dict()
    try:
        return series.reset_index().to_dict("records")
    except ValueError:
        return list(series.items())


def _plain(value):
    # What the scientific packages make of numbers and times, as JSON knows it.
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if type(value).__name__ in ("Interval", "Period"):
        return str(value)
    if _is_frame(value):
        return _records(value)
    if hasattr(value, "to_dict") and hasattr(value, "index") and _is_labelled(value.index):
        return _labelled(value)
    for name in ("tolist", "item"):
        if hasattr(value, name):
            return getattr(value, name)()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _finite(value):
    # Not a number is no number: it is written as nothing.
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return _finite(_plain(value))


def _json(value, what, limit):
    text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)
    if len(text) > limit:
        raise ValueError(f"{what} has {len(text)} characters, and {limit} are kept; make it smaller")
    return text


def set_result(value):
    """The result of this call: anything that can be written as JSON. The last one counts."""
    _call.result = json.loads(_json(value, "the result", _MAX_RESULT))
    _call.has_result = True


def render_chart(spec, data, title=None):
    """A chart: spec has type, xKey and series; data is a list of flat rows, or a DataFrame."""
    rows = _rows(data)
    if len(rows) > _MAX_ROWS:
        raise ValueError(f"the chart has {len(rows)} rows, and {_MAX_ROWS} are drawn; aggregate them")
    if len(_call.charts) + len(_call.images) >= _MAX_ARTIFACTS:
        raise ValueError(f"an answer has at most {_MAX_ARTIFACTS} charts and images")
    chart = {"spec": spec, "data": rows}
    if title is not None:
        chart["title"] = str(title)
    _call.charts.append(json.loads(_json(chart, "the chart", _MAX_RESULT)))


def save_figure(alt, title=None, fig=None):
    """An image: the figure that is given, else matplotlib's current one; or the bytes of a PNG."""
    if len(_call.charts) + len(_call.images) >= _MAX_ARTIFACTS:
        raise ValueError(f"an answer has at most {_MAX_ARTIFACTS} charts and images")
    if isinstance(fig, (bytes, bytearray)):
        png = bytes(fig)
    else:
        if fig is None:
            try:
                import matplotlib.pyplot
            except ImportError:
                raise RuntimeError("matplotlib is not here; use render_chart, which needs no package") from None
            fig = matplotlib.pyplot.gcf()
        drawn = io.BytesIO()
        fig.savefig(drawn, format="png")
        png = drawn.getvalue()
    if not png.startswith(_PNG):
        raise ValueError("the figure is no PNG")
    if len(png) > _MAX_IMAGE:
        raise ValueError(f"the image has {len(png)} bytes, and {_MAX_IMAGE} are kept; make it smaller")
    os.makedirs("out/images", exist_ok=True)
    path = f"out/images/{len(_call.images) + 1}.png"
    with open(path, "wb") as file:
        file.write(png)
    image = {"alt": str(alt), "path": path}
    if title is not None:
        image["title"] = str(title)
    _call.images.append(image)
    return path


_TIME_NAMES = ("timestamp", "time", "date", "datetime", "day", "t", "ts", "period")


def _rows(data):
    if _is_frame(data):
        return _records(data)
    rows = list(data)
    for row in rows:
        if not isinstance(row, dict):
            raise TypeError("a series is a list of rows, each a dict, or a DataFrame")
    return rows


def _like(data, rows):
    if _is_frame(data):
        return type(data)(rows)
    return rows


def _time_of(rows, on):
    if on is not None:
        return on
    names = [name for row in rows[:1] for name in row if str(name).lower() in _TIME_NAMES]
    if len(names) != 1:
        raise ValueError("which column is the time cannot be told; name it with on=")
    return names[0]


def _moment(value):
    # Milliseconds since 1970, whatever way a tool writes a time: so that series of different tools meet.
    if value is None or isinstance(value, bool):
        raise ValueError(f"{value!r} is no time")
    if isinstance(value, (int, float)):
        return int(value if abs(value) >= 1e11 else value * 1000)
    if hasattr(value, "isoformat") and not isinstance(value, str):
        value = value.isoformat()
    text = str(value).strip()
    with contextlib.suppress(ValueError):
        return _moment(float(text))
    parsed = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=datetime.timezone.utc)
    return int(parsed.timestamp() * 1000)


def _by_moment(rows, on):
    # One row for each moment, the last that was said of it, so that nothing is counted twice.
    return {_moment(row[on]): row for row in rows if row.get(on) is not None}


def _columns(rows):
    return list(dict.fromkeys(key for row in rows for key in row))


def align_timeseries(*series, on=None, how="inner"):
    """The series, each with the same moments in the same order. how: inner keeps those that all have, outer fills with None."""
    if how not in ("inner", "outer"):
        raise ValueError('how must be "inner" or "outer"')
    tables = []
    for data in series:
        rows = _rows(data)
        name = _time_of(rows, on)
        tables.append((data, name, _by_moment(rows, name), _columns(rows)))
    sets = [set(table) for _, _, table, _ in tables]
    moments = sorted(set.intersection(*sets) if how == "inner" else set.union(*sets)) if sets else []
    written = {at: row[name] for _, name, table, _ in reversed(tables) for at, row in table.items()}
    aligned = []
    for data, name, table, columns in tables:
        rows = [table.get(at) or {**dict.fromkeys(columns), name: written[at]} for at in moments]
        aligned.append(_like(data, rows))
    return aligned


def safe_merge_timeseries(left, right, on=None, how="inner", suffixes=("_left", "_right")):
    """Two series as one, a row for each moment: never more rows than moments, and no column overwritten."""
    if how not in ("inner", "outer", "left"):
        raise ValueError('how must be "inner", "outer" or "left"')
    first, second = _rows(left), _rows(right)
    left_on, right_on = _time_of(first, on), _time_of(second, on)
    one, other = _by_moment(first, left_on), _by_moment(second, right_on)
    moments = {"inner": one.keys() & other.keys(), "outer": one.keys() | other.keys(), "left": one.keys()}[how]
    left_columns = [key for key in _columns(first) if key != left_on]
    right_columns = [key for key in _columns(second) if key != right_on]
    shared = {*left_columns, left_on} & set(right_columns)
    merged = []
    for at in sorted(moments):
        a, b = one.get(at, {}), other.get(at, {})
        row = {left_on: a.get(left_on, b.get(right_on))}
        row.update({f"{key}{suffixes[0]}" if key in shared else key: a.get(key) for key in left_columns})
        row.update({f"{key}{suffixes[1]}" if key in shared else key: b.get(key) for key in right_columns})
        merged.append(row)
    return _like(left, merged)


def derive_change_series(data, value, on=None, kind="absolute", periods=1, name=None):
    """The series with one column more: how value has changed. kind: absolute, percent or log. None where there is no telling."""
    if kind not in ("absolute", "percent", "log"):
        raise ValueError('kind must be "absolute", "percent" or "log"')
    if not isinstance(periods, int) or periods < 1:
        raise ValueError("periods must be a whole number from 1")
    rows = _rows(data)
    table = _by_moment(rows, _time_of(rows, on))
    ordered = [table[at] for at in sorted(table)]
    column = name or f"{value}_change"
    derived = []
    for index, row in enumerate(ordered):
        before = ordered[index - periods].get(value) if index >= periods else None
        derived.append({**row, column: _change(before, row.get(value), kind)})
    return _like(data, derived)


def _change(before, after, kind):
    try:
        if before is None or after is None:
            return None
        if kind == "absolute":
            change = after - before
        elif kind == "percent":
            change = (after - before) / abs(before) * 100
        else:
            change = math.log(after / before)
    except (ZeroDivisionError, ValueError, TypeError):
        return None
    return change if math.isfinite(change) else None


_HELPERS = {
    "set_result": set_result,
    "render_chart": render_chart,
    "save_figure": save_figure,
    "align_timeseries": align_timeseries,
    "safe_merge_timeseries": safe_merge_timeseries,
    "derive_change_series": derive_change_series,
}


def _run(text):
    # Runs one call. The names of another call are not there: only what is written down stays between two.
    global _call
    _call = _Call()
    request = json.loads(text)
    inputs = request["inputs"]
    with open("inputs.json", "w", encoding="utf-8") as file:
        file.write(_whole(json.dumps(inputs, ensure_ascii=False)))
    namespace = {"__name__": "__main__", "inputs": inputs, **inputs, **_HELPERS}
    printed = _Bounded()
    answer = {}
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            exec(compile(request["code"], "<code>", "exec"), namespace)
        answer["images"] = [_read(image) for image in _call.images]
        answer["ok"] = True
    except BaseException as error:
        answer["ok"] = False
        answer["message"] = _said(error, request.get("missing", {}))
    answer["stdout"] = printed.text()
    answer["result"] = _call.result
    answer["hasResult"] = _call.has_result
    answer["charts"] = _call.charts
    return _whole(json.dumps(answer, ensure_ascii=False))


def _whole(text):
    # Tools say halves of characters, which nothing writes. A replacement stands for each, as everywhere else.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _read(image):
    with open(image.pop("path"), "rb") as file:
        png = file.read(_MAX_IMAGE + 1)
    if len(png) > _MAX_IMAGE or not png.startswith(_PNG):
        raise ValueError("what stands under out/images is no PNG of a size that is kept")
    return {**image, "png": base64.b64encode(png).decode()}


def _said(error, missing):
    # The error, and where in the code it was, without what is ours around it. Of what is not installed, why, where somebody knows.
    lines = traceback.format_exception_only(type(error), error)
    places = [place.lineno for place in traceback.extract_tb(error.__traceback__) if place.filename == "<code>"]
    where = f" (line {places[-1]})" if places else ""
    why = ""
    if isinstance(error, ModuleNotFoundError):
        name = str(error.name).partition(".")[0]
        reason = missing.get(name, "it is not installed in this sandbox")
        if name in _FETCHING:
            reason = "nothing is fetched here, only computed from what tools have answered"
        why = f"; {name} cannot be imported here: {reason}; compute it without {name}, with what Python brings along"
    return ("".join(lines).strip() + where + why)[-_MAX_MESSAGE:]


def _holes(port):
    # Tries to get out, as anybody's code would. Returns in what ways it could; a sandbox with one does not begin to work.
    holes = []

    def attempt(name, way):
        try:
            if way():
                holes.append(name)
        except BaseException:
            pass

    def connect():
        import socket

        with socket.create_connection(("127.0.0.1", port), 2):
            return True

    def fetch():
        import urllib.request

        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2)
        return True

    def resolve():
        import socket

        # Without a resolver some systems answer with an address of their own; only one that is real is a way out.
        return any(not one[4][0].startswith(("172.29.", "0.")) for one in socket.getaddrinfo("example.com", 80))

    def host():
        import js

        names = ("process", "require", "fetch", "WebSocket", "XMLHttpRequest", "Deno", "Bun", "importScripts", "module")
        return any(hasattr(js, name) for name in names)

    def evaluate():
        from pyodide.code import run_js

        run_js("1")
        return True

    def construct():
        import pyodide_js

        pyodide_js.runPython.constructor("return 1")()
        return True

    def read(path):
        with open(path, "rb") as file:
            return file.read(1) != b""

    attempt("a connection", connect)
    attempt("urllib", fetch)
    attempt("a name server", resolve)
    attempt("the host's globals", host)
    attempt("run_js", evaluate)
    attempt("a function from text", construct)
    for path in ("/etc/passwd", "/etc/hostname", "/proc/1/environ", "/root/.bashrc"):
        attempt(f"the file {path}", lambda path=path: read(path))
    def write(path):
        # Opened and not written: where it could be, it would be another machine.
        os.close(os.open(path, os.O_WRONLY))
        return True

    for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger"):
        attempt(f"the kernel's settings in {path}", lambda path=path: write(path))
    attempt("the environment", lambda: any(name not in _ENVIRONMENT for name in os.environ))
    return json.dumps(holes)


# What the sandboxes themselves set, and Python on its own.
_ENVIRONMENT = set(
    "_ HOME LANG LC_CTYPE LD_LIBRARY_PATH LOGNAME MPLBACKEND MPLCONFIGDIR OMP_NUM_THREADS OPENBLAS_NUM_THREADS PATH PWD "
    "PYTHONINSPECT USER".split()
)
