import type { EvaluatorLanguage } from '../sandbox.js';
import { floodCode } from './cases/flood-cases.js';
import { BOMBS } from './cases/limit-cases.js';
import { THREAD_BOMB } from './cases/resource-cases.js';

/** Hostile code that a model may write, for tests of a whole server. Run it only behind a wall: some of it kills. */
export interface Attack {
  name: string;
  language: EvaluatorLanguage;
  code: string;
}

const JAVASCRIPT: Readonly<Record<string, string>> = {
  'busy loop': 'for (;;);',
  'busy timers':
    'const spin = () => { setTimeout(spin); setTimeout(spin); }; spin(); await new Promise(() => {});',
  'busy promises': 'const spin = () => Promise.resolve().then(spin); spin(); await new Promise(() => {});',
  'slow regular expression': `return /^(a+)+$/.test('a'.repeat(40) + 'b');`,
  'a promise that never resolves': 'await new Promise(() => {});',
  'exit without a result': 'process.exit(0);',
  'exit with an error': 'process.exit(134);',
  'deep recursion': 'const down = (n) => [down(n + 1)]; return down(0);',
  'a value that cannot be JSON': 'const value = {}; value.self = value; return value;',
  'errors in timers':
    'for (let n = 0; n < 1000; n += 1) setTimeout(() => { throw new Error(String(n)); }); await new Promise(() => {});',
  'changed prototypes': `
    Object.prototype.toJSON = () => 'forged';
    Promise.prototype.then = undefined;
    return { honest: true };`,
  connections: `
    const tries = ['http://127.0.0.1:8787/health', 'http://169.254.169.254/', 'http://example.com/'];
    return (await Promise.allSettled(tries.map((url) => fetch(url)))).map(({ status }) => status);`,
  files: `
    const fs = await import('node:fs');
    return ['/etc/passwd', '/proc/self/environ', '/proc/1/mem'].map((path) => fs.readFileSync(path, 'latin1'));`,
  'child processes': `
    const { spawn } = await import('node:child_process');
    for (let n = 0; n < 100; n += 1) spawn('/bin/sh', ['-c', 'sleep 600'], { detached: true }).unref();
    return 'started';`,
  signals: `for (const pid of [-1, 0, process.ppid]) process.kill(pid, 'SIGKILL'); return 'sent';`,
  'busy workers': `
    for (let n = 0; n < 100; n += 1) new Worker('data:text/javascript,for(;;);', { type: 'module' });
    await new Promise(() => {});`,
};

const PYTHON: Readonly<Record<string, string>> = {
  'busy loop': 'while True: pass',
  memory: 'held = []\nwhile True: held.append(bytearray(1 << 20))',
  fork: 'import os\nwhile True: os.fork()',
  'a process in a new session': `
import os, subprocess
try:
    os.setsid()
except OSError:
    pass
for _ in range(100):
    subprocess.Popen(["/bin/sh", "-c", "sleep 600"], start_new_session=True)
return "started"`,
  threads: `
import threading, time
while True:
    threading.Thread(target=time.sleep, args=(600,)).start()`,
  newlines: `
import os
for _ in range(63):
    os.write(1, b"\\n" * 65536)
return "flooded"`,
  signals: 'import os, signal\nos.kill(-1, signal.SIGKILL)',
};

const attacksOf = (language: EvaluatorLanguage, code: Readonly<Record<string, string>>): Attack[] =>
  Object.entries(code).map(([name, text]) => ({ name: `${language}: ${name}`, language, code: text }));

/** Every kind of hostile code that the conformance cases try and that fits one piece of code. */
export const attacks: readonly Attack[] = [
  ...attacksOf('javascript', floodCode),
  ...attacksOf('javascript', BOMBS),
  ...attacksOf('javascript', { 'thread bomb': THREAD_BOMB }),
  ...attacksOf('javascript', JAVASCRIPT),
  ...attacksOf('python', PYTHON),
];
