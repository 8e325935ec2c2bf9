import { execFile } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { markOfThisProcess } from './process-identity.js';
import { SandboxStartError } from '../../sandbox.js';

const run = promisify(execFile);
const MKFIFO_TIMEOUT_MS = 10_000;
const PIPES_PER_CHILD = 3;
/** Pipes that one call of mkfifo makes: a call costs a few milliseconds. */
const BATCH = 16 * PIPES_PER_CHILD;
const FOLDER_PREFIX = 'pipes-';

/** The streams of one child, and the descriptors that it is to be started with. */
export interface ChildPipes {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** For the child: its stdin, stdout and stderr. */
  descriptors: readonly [number, number, number];
  /** To be called once the child has been started: its ends are closed in this process. */
  release(): void;
  /** For a child that was not started. */
  discard(): void;
}

/** Pipes for the stdio of children. */
export interface PipeStock {
  /** @throws SandboxStartError when none can be made. */
  take(): Promise<ChildPipes>;
  close(): void;
}

interface Pipe {
  readEnd: number;
  writeEnd: number;
}

/** Opens both ends of a named pipe and removes its name. The end of the child blocks, as programs expect of stdio. */
function openPipe(path: string, childReads: boolean): Pipe {
  const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants;
  // Opening one end waits for the other; with both open, it does not.
  const both = openSync(path, O_RDWR | O_NONBLOCK);
  try {
    const readEnd = openSync(path, childReads ? O_RDONLY : O_RDONLY | O_NONBLOCK);
    const writeEnd = openSync(path, childReads ? O_WRONLY | O_NONBLOCK : O_WRONLY);
    return { readEnd, writeEnd };
  } finally {
    closeSync(both);
    unlinkSync(path);
  }
}

function openChildPipes([inPath, outPath, errorPath]: readonly [string, string, string]): ChildPipes {
  const input = openPipe(inPath, true);
  const output = openPipe(outPath, false);
  const error = openPipe(errorPath, false);
  const descriptors = [input.readEnd, output.writeEnd, error.writeEnd] as const;
  const streams = {
    stdin: new Socket({ fd: input.writeEnd, readable: false, writable: true }),
    stdout: new Socket({ fd: output.readEnd, readable: true, writable: false }),
    stderr: new Socket({ fd: error.readEnd, readable: true, writable: false }),
  };
  const release = (): void => descriptors.forEach((descriptor) => closeSync(descriptor));
  return {
    ...streams,
    descriptors,
    release,
    discard() {
      release();
      for (const stream of Object.values(streams)) stream.destroy();
    },
  };
}

/**
 * Pipes for children, made as named pipes in a folder of their own there and nameless as soon as they are used. Node
 * itself gives its children sockets, and a socket answers for the network of the process that made it: its
 * interfaces, its addresses, and who is at the other end.
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
      // Others may have taken what was made meanwhile.
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

/** The mark of the process that a folder of pipes belongs to; undefined for names of other things. */
export function ownerOfPipes(name: string): string | undefined {
  return new RegExp(`^${FOLDER_PREFIX}([\\d_]+)-`).exec(name)?.[1];
}
