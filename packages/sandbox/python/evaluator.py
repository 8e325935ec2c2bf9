"""Runs one piece of Python that a model wrote and answers with its value, by the evaluator's protocol.

The code is the body of a function of `input` and `task`. The process runs only this code, holds only the input, and is
killed afterwards. This file therefore does not confine the code.
"""

import ast
import io
import json
import os
import sys

PROTOCOL_VERSION = 2
MAX_CAPTURED_CHARACTERS = 16_384
MAX_ERROR_CHARACTERS = 2_000
CODE_NAME = "<code>"


class CapturedText(io.TextIOBase):
    """The output that the code prints, kept up to a bound."""

    def __init__(self):
        self.text = ""
        self.cut = False

    def writable(self):
        return True

    def write(self, text):
        if not self.cut:
            self.text += text
            if len(self.text) > MAX_CAPTURED_CHARACTERS:
                self.text = self.text[:MAX_CAPTURED_CHARACTERS] + "\n[output cut]"
                self.cut = True
        return len(text)


def send(message):
    rest = (json.dumps(message) + "\n").encode()
    while rest:
        rest = rest[os.write(1, rest) :]


def compile_body(code):
    """The code as a function. Its `return` gives the value, and its lines need no indentation."""
    module = ast.parse("def run(input, task): pass")
    body = ast.parse(code, CODE_NAME).body
    if body:
        module.body[0].body = body
    names = {"__name__": "__main__"}
    exec(compile(ast.fix_missing_locations(module), CODE_NAME, "exec"), names)
    return names["run"]


def line_of(error):
    """The last line of the model's code in the trace of an error."""
    if isinstance(error, SyntaxError) and error.filename == CODE_NAME:
        return error.lineno
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == CODE_NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def describe(error):
    text = error.msg if isinstance(error, SyntaxError) else str(error) or "no message"
    line = line_of(error)
    where = "" if line is None else f" (line {line})"
    return f"{type(error).__name__}: {text}"[:MAX_ERROR_CHARACTERS] + where


def evaluate(message):
    captured = CapturedText()
    sys.stdout = sys.stderr = captured
    try:
        run = compile_body(message["code"])
        value = run(message.get("input"), message["task"])
        # NaN and infinities are not JSON.
        json.dumps(value, allow_nan=False)
        return {"value": value, "stdout": captured.text}
    # SystemExit and KeyboardInterrupt are results, too.
    except BaseException as error:
        return {"error": describe(error), "stdout": captured.text}


send({"type": "ready", "protocol": PROTOCOL_VERSION, "entry": "evaluator"})
first = sys.stdin.buffer.readline()
if first:
    os.write(1, b'{"type":"start"}\n')
    send(evaluate(json.loads(first)))
# Threads that the code left behind do not keep the process alive.
os._exit(0)
