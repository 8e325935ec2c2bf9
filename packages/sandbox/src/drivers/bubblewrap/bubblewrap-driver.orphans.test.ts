import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { onHardenedMachine } from './hardened-machine.test-support.js';
import { openLedger, sweepOrphans } from '../process/orphan-ledger.js';
import { identifyProcess } from '../process/process-identity.js';
import { descendants } from '../process/process-tree.test-support.js';

/** A separate host that keeps one sandbox busy for ever; runs the built code. */
const HOST = `
  import { createBubblewrapDriver } from ${JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href)};
  const [stateDir, language, code] = process.argv.slice(1);
  const driver = await createBubblewrapDriver({ stateDir });
  const sandbox = await driver.start({ entry: 'evaluator', language });
  sandbox.send(JSON.stringify({ type: 'evaluate', protocol: 1, code, task: 'x' }));
  for await (const line of sandbox.lines) process.stdout.write(line + '\\n');
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
  {
    what: 'is busy in JavaScript',
    language: 'javascript',
    code: `process.stdout.write('busy\\n'); for (;;);`,
  },
  { what: 'does all to stay, in Python', language: 'python', code: `${STAYING}while True: pass` },
  {
    what: 'ends its first thread and continues in another',
    language: 'python',
    code: `${STAYING}libc.syscall(${EXIT_OF_A_THREAD}, 0)`,
  },
];

let stateDir: string;
let started: ChildProcess | undefined;
let tree: number[];

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
  tree = [];
});
afterEach(async () => {
  if (started !== undefined && started.exitCode === null && started.signalCode === null) {
    started.kill('SIGKILL');
    await once(started, 'exit');
  }
  started = undefined;
  for (const pid of await running()) process.kill(pid, 'SIGKILL');
  await rm(stateDir, { recursive: true });
});

async function running(): Promise<number[]> {
  const identities = await Promise.all(tree.map(identifyProcess));
  return tree.filter((_, at) => identities[at] !== undefined);
}

async function untilNothingRuns(): Promise<void> {
  await vi.waitFor(async () => expect(await running()).toEqual([]), { timeout: 15_000 });
}

describe.runIf(onHardenedMachine)('a server that is killed with SIGKILL', () => {
  test.each(busy)('leaves no process of a sandbox that $what [EXE-47]', async ({ language, code }) => {
    const host = spawn(process.execPath, ['--input-type=module', '-e', HOST, stateDir, language, code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    started = host;
    const [line] = (await once(createInterface(host.stdout), 'line')) as [string];
    expect(line).toBe('busy');
    tree = descendants(host.pid ?? 0);
    expect(tree.length).toBeGreaterThanOrEqual(2);
    host.kill('SIGKILL');
    await once(host, 'exit');
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
    const hide = 'exec -a "" sleep 600';
    const outer = spawn(
      'bwrap',
      [
        '--unshare-all',
        '--unshare-user',
        '--as-pid-1',
        '--ro-bind',
        '/',
        '/',
        '--info-fd',
        '3',
        'bash',
        '-c',
        hide,
      ],
      { stdio: ['ignore', 'ignore', 'inherit', info.fd] },
    );
    started = outer;
    await info.close();
    await vi.waitFor(async () => expect(await readFile(ledger.innerPath(nonce), 'utf8')).toContain('}'));
    const [, inner] = /"child-pid": (\d+)/.exec(await readFile(ledger.innerPath(nonce), 'utf8')) ?? [];
    tree = [Number(inner)];
    outer.kill('SIGKILL');
    await once(outer, 'exit');
    expect(await running()).toEqual(tree);

    expect(await sweepOrphans(stateDir), 'its host still runs').toMatchObject({ killed: 0 });
    expect(await running()).toEqual(tree);
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
