import { setTimeout as delay } from 'node:timers/promises';
import { OutputIntake } from '../../protocol/output-intake.js';
import type { ExitReason, Sandbox, SandboxExit, SandboxLimits } from '../../sandbox.js';
import type { SandboxProcess } from './spawner/spawner.js';

const NEWLINE = '\n';
/** The last output of a process may come after its `exit` event. */
const STDERR_WAIT_MS = 100;

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Makes a sandbox of a child process. It enforces the limits on input and output, and reports the end.
 */
export function superviseChild(child: SandboxProcess, limits: SandboxLimits): Sandbox {
  const output = new OutputIntake(limits, { onExceeded: end, onDrain: () => child.stdout.resume() });
  const { lines } = output;
  let endedBy: ExitReason | undefined;

  /** Also called after a natural end: unread output would keep its pipe open. */
  function end(reason: ExitReason): void {
    if (endedBy === undefined) child.end();
    endedBy ??= reason;
    child.stdin.destroy();
    child.stdout.destroy();
    lines.end({ discard: true });
  }

  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout(chunk);
    // A slow reader slows the sandbox down, and does not fill the host's memory.
    if (lines.isFull) child.stdout.pause();
  });
  // An unfinished last line is dropped.
  child.stdout.on('close', () => {
    lines.end({ discard: false });
  });
  child.stderr.on('data', (chunk: Buffer) => output.stderr(chunk));
  // The pipes of a dying process break; `exited` gives the reason.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});

  const stderrRead = new Promise<void>((resolve) => child.stderr.once('close', resolve));

  async function untilExited(): Promise<SandboxExit> {
    const { code, signal } = await child.ended;
    await Promise.race([stderrRead, delay(STDERR_WAIT_MS, undefined, { ref: false })]);
    endedBy ??= code === 0 ? 'ended' : 'crashed';
    return { code, signal, reason: endedBy, stderrTail: output.stderrTail };
  }
  const exited = untilExited();

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
