import { spawn } from 'node:child_process';
import { mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { onHardenedMachine } from './hardened-machine.test-support.js';
import { openLedger, sweepOrphans } from '../process/orphan-ledger.js';
import { BUILT, descendants, endNow, runningOf, startHost } from '../process/process-tree.test-support.js';

/** A separate host that keeps one sandbox busy for ever; runs the built code. */
const HOST = `
  import { createBubblewrapDriver } from ${BUILT};
  const [stateDir, language, code] = process.argv.slice(1);
  const driver = await createBubblewrapDriver({ stateDir });
  const sandbox = await driver.start({ entry: 'evaluator', language });
  sandbox.send(JSON.stringify({ type: 'evaluate', protocol: 1, code, task: 'x' }));
  for await (const line of sandbox.lines) if (line === 'busy') process.stdout.write('busy\\n');
`;

const EXIT_OF_A_THREAD = process.arch === 'arm64' ? 93 : 60;

/** All ways of a process to stay alive. Each one would be enough if it worked. */
const STAYING = `
import ctypes, os, signal, threading
libc = ctypes.CDLL(None)
libc.prctl(1, 0, 0, 0, 0)
libc.prctl(1, signal.SIGCONT, 0, 0, 0)
libc.prctl(4, 0, 0, 0, 0)
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
arguments = ctypes.c_void_p.in_dll(libc, "program_invocation_name").value
ctypes.memset(arguments, 0, 120)
def work():
    while True: pass
threading.Thread(target=work).start()
os.write(1, b"busy\\n")
`;

const busy = [
  ['is busy in JavaScript', 'javascript', `process.stdout.write('busy\\n'); for (;;);`],
  ['does all to stay, in Python', 'python', `${STAYING}while True: pass`],
  [
    'ends its first thread and continues in another',
    'python',
    `${STAYING}libc.syscall(${EXIT_OF_A_THREAD}, 0)`,
  ],
] as const;

let stateDir: string;
let tree: number[];

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
  tree = [];
});
afterEach(async () => {
  for (const pid of runningOf(tree)) process.kill(pid, 'SIGKILL');
  await rm(stateDir, { recursive: true });
});

async function untilNothingRuns(): Promise<void> {
  await vi.waitFor(() => expect(runningOf(tree)).toEqual([]), { timeout: 15_000 });
}

describe.runIf(onHardenedMachine)('a server that is killed with SIGKILL', () => {
  test.each(busy)('leaves no process of a sandbox that %s [EXE-47]', async (_what, language, code) => {
    const { host, pid, line } = await startHost(HOST, [stateDir, language, code]);
    expect(line).toBe('busy');
    tree = descendants(pid);
    expect(tree.length).toBeGreaterThanOrEqual(2);
    await endNow(host);
    await untilNothingRuns();
    expect(await sweepOrphans(stateDir)).toEqual({ killed: 0, alreadyGone: 1, inUse: 0 });
    expect(await readdir(join(stateDir, 'sandboxes')), 'records and pipes').toEqual([
      expect.stringMatching(/\.bpf$/),
    ]);
  });

  test('has recorded the inner process of a sandbox, and the next server ends it [EXE-47]', async () => {
    const ledger = await openLedger(stateDir);
    const nonce = ledger.newNonce();
    const info = await open(ledger.innerPath(nonce), 'wx');
    // Without the parent death signal, as if the sandbox had undone it. It also hides its command line.
    const wall = '--unshare-all --unshare-user --as-pid-1 --ro-bind / / --info-fd 3'.split(' ');
    const outer = spawn('bwrap', [...wall, 'bash', '-c', 'exec -a "" sleep 600'], {
      stdio: ['ignore', 'ignore', 'inherit', info.fd],
    });
    onTestFinished(() => endNow(outer));
    await info.close();
    await vi.waitFor(async () => expect(await readFile(ledger.innerPath(nonce), 'utf8')).toContain('}'));
    const [, inner] = /"child-pid": (\d+)/.exec(await readFile(ledger.innerPath(nonce), 'utf8')) ?? [];
    tree = [Number(inner)];
    await endNow(outer);
    expect(await sweepOrphans(stateDir), 'its host still runs').toMatchObject({ killed: 0 });
    expect(runningOf(tree)).toEqual(tree);
    await adoptByDeadHost(ledger.folder, nonce);
    await sweepOrphans(stateDir);
    await untilNothingRuns();
    expect(await readdir(ledger.folder)).toEqual([]);
  });
});

/** Renames this process's record of a sandbox to the record of a dead process. */
async function adoptByDeadHost(folder: string, nonce: string): Promise<void> {
  const [name = ''] = (await readdir(folder)).filter((each) => each.startsWith(nonce));
  await rename(join(folder, name), join(folder, `${nonce}-${2 ** 30}_1.inner`));
}
