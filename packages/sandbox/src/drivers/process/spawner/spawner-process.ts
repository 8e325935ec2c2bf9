import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { SandboxStartError } from '../../../sandbox.js';
import { giveDescriptor, inheritedDescriptors } from './inherited-descriptors.js';
import type { ProcessEnd, SandboxSpawner } from './spawner.js';
import type { SpawnerReport, SpawnerRequest } from './messages.js';
import { type ChildPipes, openPipeStock } from './stdio-pipes.js';

/** The built module, also where this file runs from its source. */
const CHILD_MODULE = fileURLToPath(
  new URL('../../../../dist/drivers/process/spawner/child-main.js', import.meta.url),
);
/** A process with less memory starts children faster. */
const CHILD_FLAGS = ['--max-semi-space-size=1'];
const FIRST_FREE_DESCRIPTOR = 3;
/** The longest wait for the end of the process. It has no other work then. */
const CLOSE_MS = 2_000;
const KILLED: ProcessEnd = { code: null, signal: 'SIGKILL' };

interface Asked {
  onSpawned(pid: number): void;
  onFailed(message: string): void;
  onEnded(end: ProcessEnd): void;
}

/** Starts the process that starts sandboxes. It gets only the channel and stderr from this process. */
function startChild(): ChildProcess {
  const nothing = openSync(devNull, 'r');
  const stdio: (number | 'ignore' | 'inherit' | 'ipc')[] = ['ignore', 'ignore', 'inherit'];
  for (const descriptor of inheritedDescriptors()) giveDescriptor(stdio, descriptor, nothing);
  const free = stdio.findIndex((given, at) => at >= FIRST_FREE_DESCRIPTOR && given === 'ignore');
  stdio[free === -1 ? stdio.length : free] = 'ipc';
  try {
    return fork(CHILD_MODULE, [], { execArgv: CHILD_FLAGS, env: {}, cwd: '/', stdio });
  } finally {
    closeSync(nothing);
  }
}

/** Lets the process end by itself, and kills it when it does not. Resolves when it has ended. */
async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = once(child, 'exit');
  const late = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS);
  if (child.connected) child.disconnect();
  await ended;
  clearTimeout(late);
}

/**
 * Starts sandboxes from a small separate process, `child-main.ts`. The start of a sandbox stops its parent process, for longer
 * in a larger process. The first sandbox starts the small process, and so does the next one after its end. A sandbox must end
 * with its parent.
 *
 * @param folder the folder for the named pipes of sandboxes.
 * @param mkfifo the tool that makes named pipes.
 */
export function openSpawnerProcess(folder: string, mkfifo: string): SandboxSpawner {
  const pipes = openPipeStock(folder, mkfifo);
  const asked = new Map<number, Asked>();
  let child: ChildProcess | undefined;
  let lastId = 0;
  let closed = false;

  function hear(report: SpawnerReport): void {
    const one = asked.get(report.id);
    if (one === undefined) return;
    if (report.event === 'spawned') {
      one.onSpawned(report.pid);
      return;
    }
    forget(report.id);
    if (report.event === 'failed') one.onFailed(report.message);
    else one.onEnded({ code: report.code, signal: report.signal });
  }

  function forget(id: number): void {
    asked.delete(id);
    if (asked.size > 0) return;
    child?.unref();
    child?.channel?.unref();
  }

  /** Its sandboxes end with it. */
  function childEnded(ended: ChildProcess): void {
    if (child !== ended) return;
    child = undefined;
    const left = [...asked.values()];
    asked.clear();
    for (const one of left) {
      one.onFailed('the process that starts sandboxes has ended');
      one.onEnded(KILLED);
    }
  }

  function send(request: SpawnerRequest): void {
    if (child === undefined) {
      const started = startChild();
      child = started;
      started.on('message', (message) => hear(message as SpawnerReport));
      started.once('disconnect', () => childEnded(started));
      started.on('error', () => childEnded(started));
    }
    child.ref();
    child.channel?.ref();
    child.send(request);
  }

  function end(id: number): void {
    if (asked.has(id)) send({ do: 'end', id });
  }

  return {
    async spawn({ endMethod, ...request }) {
      const stdio: ChildPipes = await pipes.take();
      if (closed) {
        stdio.discard();
        throw new SandboxStartError('the driver is closed');
      }
      const id = (lastId += 1);
      let onEnded = (_end: ProcessEnd): void => undefined;
      const ended = new Promise<ProcessEnd>((resolve) => (onEnded = resolve));
      const spawned = new Promise<number>((resolve, reject) => {
        const onFailed = (message: string): void => reject(new SandboxStartError(message));
        asked.set(id, { onSpawned: resolve, onFailed, onEnded });
      });
      send({ do: 'spawn', id, request: { ...request, pipes: stdio.paths }, endMethod });
      try {
        const pid = await spawned;
        return { pid, ...stdio.open(), ended, end: () => end(id) };
      } catch (error) {
        stdio.discard();
        throw error;
      }
    },
    async close() {
      closed = true;
      pipes.close();
      if (child) await endChild(child);
    },
  };
}
