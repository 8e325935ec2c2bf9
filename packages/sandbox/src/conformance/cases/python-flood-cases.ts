import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { assertLoopStaysFree } from '../loop-watch.js';
import { evaluateIn, nativeLanguages } from '../native-code.js';

/** Writes to file descriptor 1 past the captured output. */
const repeated = (text: string, times: number): string => `
import os
for _ in range(${times}):
    rest = ${text}
    while rest:
        rest = rest[os.write(1, rest):]`;

const FLOODS: Readonly<Record<string, string>> = {
  'newlines in chunks of 64 KiB': repeated(String.raw`b"\n" * 65536`, 63),
  'newlines in chunks of 256 KiB': repeated(String.raw`b"\n" * 262144`, 15),
  'newlines one by one': repeated(String.raw`b"\n"`, 60_000),
  'empty objects': repeated(String.raw`b"{}\n" * 21845`, 63),
  'lines that begin like a result': repeated(String.raw`b'{"value": "stdout"}}\n' * 3000`, 60),
  'lines of null characters': repeated(String.raw`b"\0\n" * 32768`, 63),
  'lines of a megabyte': repeated(String.raw`b'{"value": "' + b"x" * 1000000 + b'", "stdout": 1}\n'`, 3),
  'characters split across writes': `${repeated('b"x"', 1)}
for byte in ("\\u20ac\\U0001f600" * 5000).encode():
    os.write(1, bytes([byte]))`,
  'output and errors by turns': `
import os
for _ in range(400):
    os.write(1, b"x\\n" * 2000)
    os.write(2, b"e\\n" * 2000)`,
};

/** Output of Python that tries to block the event loop of the host, for drivers that run Python at level `kernel`. */
export const pythonFloodCases: readonly ConformanceCase[] = Object.entries(FLOODS).map(([what, flood]) => ({
  name: `Python: keeps the event loop free while it writes ${what}`,
  threat: "blocking the server's event loop with output",
  async check(driver) {
    if (!nativeLanguages(driver).includes('python')) return;
    await assertLoopStaysFree(async () => {
      const evaluation = await evaluateIn(driver, 'python', `${flood}\nreturn "flooded"`);
      assert.ok('error' in evaluation || evaluation.value === 'flooded', JSON.stringify(evaluation));
    });
  },
}));
