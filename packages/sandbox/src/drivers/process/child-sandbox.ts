import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { OutputIntake } from '../../protocol/output-intake.js';
import type { ExitReason, Sandbox, SandboxExit, SandboxLimits } from '../../sandbox.js';

/** Ends a child and everything it started, so that the child's `exit` comes when nothing of it is left. */
export type EndChild = (child: ChildProcessWithoutNullStreams) => void;

const NEWLINE = '\n';

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

function endSingleProcess(child: ChildProcessWithoutNullStreams): void {
  child.kill('SIGKILL');
}

/**
 * Makes a sandbox of a child process: enforces the limits on what goes in and out of it and says how it ended.
 * A child that is more than a single process brings its own way to end all of it.
 */
export function superviseChild(
  child: ChildProcessWithoutNullStreams,
  limits: SandboxLimits,
  endChild: EndChild = endSingleProcess,
): Sandbox {
  const output = new OutputIntake(limits, { onExceeded: end, onDrain: () => child.stdout.resume() });
  const { lines } = output;
  let endedBy: ExitReason | undefined;

  /** Also called after a natural end: unread output would keep its pipe open. */
  function end(reason: ExitReason): void {
    if (endedBy === undefined) endChild(child);
    endedBy ??= reason;
    child.stdin.destroy();
    child.stdout.destroy();
    lines.end({ discard: true });
  }

  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout(chunk);
    // A reader that is slow slows the sandbox down; it does not fill the host's memory.
    if (lines.isFull) child.stdout.pause();
  });
  // An unfinished last line is dropped.
  child.stdout.on('close', () => {
    lines.end({ discard: false });
  });
  child.stderr.on('data', (chunk: Buffer) => output.stderr(chunk));
  // The pipes of a dying process break; `exited` gives the reason.
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
      resolve({ code, signal, reason: endedBy, stderrTail: output.stderrTail });
    });
  });

  return {
    send(line) {
      if (endedBy !== undefined || !child.stdin.writable) return;
      const bytes = typeof line === 'string' ? Buffer.byteLength(line) : lengthOf(line);
      if (child.stdin.writableLength + bytes + NEWLINE.length > limits.maxPendingInputBytes) {
        end('input_not_read');
        return;
      }
      if (typeof line === 'string') {
        child.stdin.write(line + NEWLINE);
        return;
      }
      // One call of the operating system for all of them. For one text it takes longer than a plain write: 0.15 ms, not 0.1.
      child.stdin.cork();
      for (const piece of line) child.stdin.write(piece);
      child.stdin.write(NEWLINE);
      child.stdin.uncork();
    },
    lines,
    async kill() {
      end('killed');
      await exited;
    },
    exited,
    gone: exited.then(() => undefined),
  };
}
