import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '@agent-rental/agent-runner';
import { createBubblewrapDriver, createDenoDriver, type SandboxDriver } from '@agent-rental/sandbox';
import { languageCode, sweepCode } from './sweep-code.js';
import { type Reach, reachesOf } from './traced-calls.js';

const STRACE = '/usr/bin/strace';
const TRACED = '%file,%network,%process,write,ioctl,inotify_init1,kill,memfd_create,pidfd_open,sync';
const SILENCE_MS = 15_000;
const POLL_INTERVAL_MS = 20;
const TRACE_ENDS_MS = 2_000;
const NO_LIMIT = {
  cpuSeconds: 600,
  startTimeoutMs: 60_000,
  maxTotalOutputBytes: 2 ** 30,
  maxLineBytes: 2 ** 24,
};

/** Where code runs, by what stands between it and the machine. */
export type Surroundings = 'evaluator' | 'permissions' | 'kernel';

/** A driver whose sandboxes are traced. */
export interface TracedSandboxes {
  /** Runs code that says what it calls. Gives what it reached, the last call that it spoke of, and whether it came to its end. */
  run(code: string, input: JsonObject, namespace: string): Promise<SweepPart>;
  /** A folder of the host. */
  folder: string;
  close(): Promise<void>;
}

/** What one sandbox of a sweep did. */
interface SweepPart {
  reaches: Reach[];
  last: number;
  ended: boolean;
}

/** Opens sandboxes that strace looks at from outside. */
export async function openTracedSandboxes(
  surroundings: Surroundings,
  denoBinary: string,
): Promise<TracedSandboxes> {
  const stateDir = await mkdtemp(join(tmpdir(), 'sweep-'));
  // Sandboxes of a root server are another user, and strace with them.
  await chmod(stateDir, 0o755);
  const traces = join(stateDir, 'traces');
  await mkdir(traces);
  await chmod(traces, 0o777);
  const folder = join(stateDir, 'canaries');
  await mkdir(folder);
  const trace = join(traces, 'trace');
  const wrapper = join(stateDir, 'traced');
  const program = surroundings === 'kernel' ? '/usr/bin/bwrap' : denoBinary;
  // The tracer is not the parent (-D): the child that is killed is the one that is traced.
  const strace = `${STRACE} -D -f -y -q -s 300 -e signal=none -e trace=${TRACED} -o '${trace}' '${program}' "$@"`;
  await writeFile(wrapper, `#!/bin/sh\nexec ${strace}\n`, { mode: 0o755 });
  await chmod(wrapper, 0o755);
  const driver = await driverFor(surroundings, stateDir, wrapper);

  return {
    folder,
    async run(code, input, namespace) {
      await rm(trace, { force: true });
      const part = await runOnce(driver, code, { ...input, folder });
      return { ...part, reaches: reachesOf(await finishedTrace(trace), namespace) };
    },
    async close() {
      await driver.close();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}

/** What strace wrote. It ends a moment after what it looks at, and says so unless that crashed. */
async function finishedTrace(path: string): Promise<string> {
  const deadline = Date.now() + TRACE_ENDS_MS;
  for (;;) {
    const text = await readFile(path, 'utf8');
    if (/\+\+\+ (exited|killed) [^\n]*\n$/.test(text) || Date.now() > deadline) return text;
    await delay(POLL_INTERVAL_MS);
  }
}

async function driverFor(
  surroundings: Surroundings,
  stateDir: string,
  wrapper: string,
): Promise<SandboxDriver> {
  if (surroundings === 'kernel') {
    return createBubblewrapDriver({ stateDir, bwrap: wrapper, runtimeWall: 'permissions' });
  }
  return createDenoDriver({
    stateDir,
    denoBinary: wrapper,
    // Their limits would be strace's, too.
    launcher: { setpriv: undefined, prlimit: undefined },
    runtimeWall: surroundings === 'evaluator' ? 'closed' : 'permissions',
  });
}

async function runOnce(
  driver: SandboxDriver,
  code: string,
  input: JsonObject,
): Promise<Omit<SweepPart, 'reaches'>> {
  const sandbox = await driver.start({ entry: 'evaluator', limits: NO_LIMIT });
  sandbox.send(JSON.stringify({ type: 'evaluate', protocol: 1, code, input, task: 'sweep' }));
  let [last, ended] = [-1, false];
  let timer = setTimeout(() => void sandbox.kill(), SILENCE_MS);
  for await (const line of sandbox.lines) {
    clearTimeout(timer);
    timer = setTimeout(() => void sandbox.kill(), SILENCE_MS);
    const [, id] = /^CALL (\d+) /.exec(line) ?? [];
    if (id !== undefined) last = Number(id);
    if (line === 'END') ended = true;
  }
  clearTimeout(timer);
  await sandbox.exited;
  await sandbox.kill();
  return { last, ended };
}

/**
 * Calls everything of a namespace. A call that ends its sandbox, or after which it says nothing more, is left behind; the
 * next sandbox begins after it.
 */
export async function sweepNamespace(traced: TracedSandboxes, namespace: string): Promise<Reach[]> {
  const reaches: Reach[] = [];
  let from = 0;
  for (;;) {
    const part = await traced.run(sweepCode, { namespace, from }, namespace);
    reaches.push(...part.reaches);
    if (part.ended || part.last < from) return reaches;
    from = part.last + 1;
  }
}

/** Loads modules of every kind, and fails in them: what code can do that finds no interface. */
export async function sweepLanguage(traced: TracedSandboxes): Promise<Reach[]> {
  const { reaches, ended } = await traced.run(languageCode, {}, 'language');
  if (!ended) throw new Error('the sweep of the language did not come to its end');
  return reaches;
}
