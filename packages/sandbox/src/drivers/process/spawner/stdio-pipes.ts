import { execFile } from 'node:child_process';
import { closeSync, mkdtempSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { openPipeEnd } from './named-pipe.js';
import { markOfThisProcess } from '../process-identity.js';
import { SandboxStartError } from '../../../sandbox.js';

const run = promisify(execFile);
const MKFIFO_TIMEOUT_MS = 10_000;
const PIPES_PER_CHILD = 3;
/** Pipes that one call of mkfifo makes: a call costs a few milliseconds. */
const BATCH = 16 * PIPES_PER_CHILD;
const FOLDER_PREFIX = 'pipes-';

/** The stdio of one child: named pipes, of which this process has opened its ends. */
export interface ChildPipes {
  /** Paths of stdin, stdout and stderr. The process that starts the child opens the other ends and removes the names. */
  paths: readonly [string, string, string];
  /** The streams of this process. Call it once the child has its ends. Before, a read finds only the end of the stream. */
  open(): { stdin: Writable; stdout: Readable; stderr: Readable };
  /** For a child that was not started. */
  discard(): void;
}

export interface PipeStock {
  /** @throws SandboxStartError when none can be made. */
  take(): Promise<ChildPipes>;
  close(): void;
}

function openChildPipes(paths: readonly [string, string, string]): ChildPipes {
  const own = { blocks: false, removesName: false };
  const ends = paths.map((path, at) => openPipeEnd(path, { ...own, reads: at > 0 }));
  const [input, output, error] = ends as [number, number, number];
  return {
    paths,
    open: () => ({
      stdin: new Socket({ fd: input, readable: false, writable: true }),
      stdout: new Socket({ fd: output, readable: true, writable: false }),
      stderr: new Socket({ fd: error, readable: true, writable: false }),
    }),
    discard() {
      for (const end of ends) closeSync(end);
      // Some of them may have lost their names already.
      for (const path of paths) rmSync(path, { force: true });
    },
  };
}

/**
 * Pipes for children. They are named pipes in a separate folder, and lose their names at their first use. Node itself would give
 * its children sockets. A socket reveals the network of the process that made it: its interfaces, its addresses, and the
 * process at the other end.
 *
 * @param mkfifo the tool that makes them; Node cannot.
 */
export function openPipeStock(parentFolder: string, mkfifo: string): PipeStock {
  const folder = mkdtempSync(join(parentFolder, `${FOLDER_PREFIX}${markOfThisProcess()}-`));
  const ready: string[] = [];
  let made = 0;
  let filling: Promise<void> | undefined;
  let closed = false;

  async function make(): Promise<void> {
    const paths = Array.from({ length: BATCH }, () => join(folder, String((made += 1))));
    try {
      await run(mkfifo, ['-m', '600', ...paths], { env: {}, timeout: MKFIFO_TIMEOUT_MS });
    } catch (error) {
      throw new SandboxStartError(`${mkfifo} makes no pipes in ${folder}: ${(error as Error).message}`, {
        cause: error,
      });
    }
    ready.push(...paths);
  }

  function fill(): Promise<void> {
    filling ??= make().finally(() => {
      filling = undefined;
      if (closed) rmSync(folder, { recursive: true, force: true });
    });
    return filling;
  }

  function requireOpen(): void {
    if (closed) throw new SandboxStartError('the driver is closed');
  }

  return {
    async take() {
      requireOpen();
      // Other calls may have taken the new pipes meanwhile.
      while (ready.length < PIPES_PER_CHILD) {
        await fill();
        requireOpen();
      }
      const [stdin, stdout, stderr] = ready.splice(0, PIPES_PER_CHILD) as [string, string, string];
      // Creates the next pipes in advance; a failure shows in the next `take`.
      if (ready.length < BATCH / 2) fill().catch(() => undefined);
      return openChildPipes([stdin, stdout, stderr]);
    },
    close() {
      closed = true;
      if (filling === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The mark of the process that a folder of pipes belongs to; undefined for other names. */
export function ownerOfPipes(name: string): string | undefined {
  return new RegExp(`^${FOLDER_PREFIX}([\\d_]+)-`).exec(name)?.[1];
}
