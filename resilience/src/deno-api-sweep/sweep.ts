import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@agent-rental/agent-runner';
import { createBubblewrapDriver, createDenoDriver, type SandboxDriver } from '@agent-rental/sandbox';
import { until } from '@agent-rental/test/support/timing/until';
import { languageCode, sweepCode } from './sweep-code.js';
import { type Reach, reachesOf } from './traced-calls.js';

const STRACE = '/usr/bin/strace';
const TRACED = '%file,%network,%process,write,ioctl,inotify_init1,kill,memfd_create,pidfd_open,sync';
const SILENCE_MS = 15_000;
const TRACE_ENDS_MS = 2_000;
const NO_LIMIT = {
  cpuSeconds: 600,
  startTimeoutMs: 60_000,
  maxTotalOutputBytes: 2 ** 30,
  maxLineBytes: 2 ** 24,
};

/** The isolation of the code: the evaluator, Deno's permissions, or the kernel. */
export type Surroundings = 'evaluator' | 'permissions' | 'kernel';

type TracedSandboxes = Awaited<ReturnType<typeof openTracedSandboxes>>;

/** Opens sandboxes with strace outside them. */
export async function openTracedSandboxes(surroundings: Surroundings, denoBinary: string) {
  const stateDir = await mkdtemp(join(tmpdir(), 'sweep-'));
  // A root server runs sandboxes, and so strace, as another user.
  await chmod(stateDir, 0o755);
  const traces = join(stateDir, 'traces');
  await mkdir(traces);
  await chmod(traces, 0o777);
  const folder = join(stateDir, 'canaries');
  await mkdir(folder);
  const trace = join(traces, 'trace');
  const wrapper = join(stateDir, 'traced');
  const program = surroundings === 'kernel' ? '/usr/bin/bwrap' : denoBinary;
  // With -D the tracer is not the parent, so that a kill ends the traced process.
  const strace = `${STRACE} -D -f -y -q -s 300 -e signal=none -e trace=${TRACED} -o '${trace}' '${program}' "$@"`;
  await writeFile(wrapper, `#!/bin/sh\nexec ${strace}\n`, { mode: 0o755 });
  await chmod(wrapper, 0o755);
  const driver = await driverFor(surroundings, stateDir, wrapper);

  return {
    /** Runs code that announces its calls in a new sandbox. */
    async run(code: string, input: JsonObject, namespace: string) {
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

/** Reads strace's output. strace ends just after the traced process, and writes its exit unless that crashed. */
async function finishedTrace(path: string): Promise<string> {
  let text = '';
  const isWhole = async () => /\+\+\+ (exited|killed) [^\n]*\n$/.test((text = await readFile(path, 'utf8')));
  await until(isWhole, TRACE_ENDS_MS, 20).catch(() => undefined);
  return text;
}

async function driverFor(surroundings: Surroundings, stateDir: string, wrapper: string) {
  if (surroundings === 'kernel') {
    return createBubblewrapDriver({ stateDir, bwrap: wrapper, runtimeWall: 'permissions' });
  }
  return createDenoDriver({
    stateDir,
    denoBinary: wrapper,
    // Their limits would also apply to strace.
    launcher: { setpriv: undefined, prlimit: undefined },
    runtimeWall: surroundings === 'evaluator' ? 'closed' : 'permissions',
  });
}

async function runOnce(driver: SandboxDriver, code: string, input: JsonObject) {
  const sandbox = await driver.start({ entry: 'evaluator', limits: NO_LIMIT });
  sandbox.send(JSON.stringify({ type: 'evaluate', protocol: 1, code, input, task: 'sweep' }));
  /** The number of the last announced call, and whether the code ran to its end. */
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
 * Calls everything in a namespace. When a call ends or silences its sandbox, a new sandbox continues with the next call.
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

/** Runs code without any interface, which loads modules of every kind. */
export async function sweepLanguage(traced: TracedSandboxes): Promise<Reach[]> {
  const { reaches, ended } = await traced.run(languageCode, {}, 'language');
  if (!ended) throw new Error('the sweep of the language did not come to its end');
  return reaches;
}
