import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { LineQueue } from './line-queue.js';
import { LineSplitter } from './line-splitter.js';
import type { ExitReason, Sandbox, SandboxExit, SandboxLimits } from './sandbox.js';

const QUEUE_CHARACTERS = 256 * 1024;
const STDERR_TAIL_CHARACTERS = 4_096;

/**
 * Makes a sandbox of a child process: enforces the limits on what goes in and out of it and says how it ended.
 * The child must be a single process that SIGKILL ends, with everything it started.
 */
export function superviseChild(child: ChildProcessWithoutNullStreams, limits: SandboxLimits): Sandbox {
  const splitter = new LineSplitter(limits.maxLineBytes);
  const lines = new LineQueue(QUEUE_CHARACTERS, () => child.stdout.resume());
  let outputBytes = 0;
  let stderrTail = '';
  let endedBy: ExitReason | undefined;

  /** Also called after a natural end: output nobody reads would keep its pipe open. */
  function end(reason: ExitReason): void {
    if (endedBy === undefined) child.kill('SIGKILL');
    endedBy ??= reason;
    child.stdin.destroy();
    child.stdout.destroy();
    lines.end({ discard: true });
  }

  /** Counts output; false when there was too much of it. */
  function admit(chunk: Buffer): boolean {
    outputBytes += chunk.length;
    if (outputBytes <= limits.maxTotalOutputBytes) return true;
    end('output_too_large');
    return false;
  }

  child.stdout.on('data', (chunk: Buffer) => {
    if (!admit(chunk)) return;
    const complete = splitter.push(chunk);
    if (complete === undefined) {
      end('line_too_long');
      return;
    }
    for (const line of complete) lines.push(line);
    // A reader that is slow slows the sandbox down; it does not fill the host's memory.
    if (lines.isFull) child.stdout.pause();
  });
  // An unfinished last line is dropped: half a message is none.
  child.stdout.on('close', () => {
    lines.end({ discard: false });
  });
  child.stderr.on('data', (chunk: Buffer) => {
    if (admit(chunk)) stderrTail = (stderrTail + chunk.toString('utf8')).slice(-STDERR_TAIL_CHARACTERS);
  });
  // The pipes of a dying process break; `exited` tells the story.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});

  const exited = new Promise<SandboxExit>((resolve) => {
    child.once('error', (error) => {
      if (child.pid !== undefined) return;
      endedBy ??= 'start_failed';
      lines.end({ discard: true });
      resolve({ code: null, signal: null, reason: 'start_failed', stderrTail: error.message });
    });
    child.once('exit', (code, signal) => {
      endedBy ??= code === 0 ? 'ended' : 'crashed';
      resolve({ code, signal, reason: endedBy, stderrTail });
    });
  });

  return {
    send(line) {
      if (endedBy !== undefined || !child.stdin.writable) return;
      if (child.stdin.writableLength + Buffer.byteLength(line) + 1 > limits.maxPendingInputBytes) {
        end('input_not_read');
        return;
      }
      child.stdin.write(`${line}\n`);
    },
    lines,
    async kill() {
      end('killed');
      await exited;
    },
    exited,
  };
}
