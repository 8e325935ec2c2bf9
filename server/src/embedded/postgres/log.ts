import { closeSync, copyFileSync, openSync, readSync, statSync, truncateSync } from 'node:fs';

const CHECK_INTERVAL_MS = 30_000;
const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;

/** The file that PostgreSQL writes its messages to, and one predecessor of it, `<path>.1`. */
export interface PostgresLog {
  /** Opens the file for appending, for a child's standard output and error. The caller closes it. */
  openForChild(): number;
  /** The end of the text since the last `openForChild`. */
  readTail(): string;
  /** Moves the content to the predecessor if there is more than the maximum. */
  rotate(): void;
  /** Ends the regular rotation. */
  close(): void;
}

/**
 * Bounds the log at start and every half minute. The content is copied and the file emptied, because the processes keep
 * it open. They write in append mode, so they go on at its start.
 */
export function openPostgresLog(path: string, maxBytes: number = DEFAULT_MAX_BYTES): PostgresLog {
  let startedAt = 0;
  const rotate = () => {
    if (sizeOf(path) <= maxBytes) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
    startedAt = 0;
  };
  const timer = setInterval(rotate, CHECK_INTERVAL_MS);
  timer.unref();
  return {
    openForChild() {
      rotate();
      startedAt = sizeOf(path);
      return openSync(path, 'a', 0o600);
    },
    readTail: () => readEnd(path, startedAt),
    rotate,
    close: () => clearInterval(timer),
  };
}

const TAIL_BYTES = 4_096;

function readEnd(path: string, from: number): string {
  const start = Math.max(from, sizeOf(path) - TAIL_BYTES);
  const buffer = Buffer.alloc(TAIL_BYTES);
  const file = openSync(path, 'r');
  try {
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, TAIL_BYTES, start)).trim();
  } finally {
    closeSync(file);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
