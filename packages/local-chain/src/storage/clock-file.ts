import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

const BYTES = 12;

/**
 * The latest chain time in any answer. With it, slots do not go back when the wall clock was set back while the chain was
 * down. Overwritten in place about once a second, without waiting for the disk: after a power cut the transactions' times
 * are the lower bound.
 */
export class ClockFile {
  readonly #fd: number;

  constructor(stateDir: string) {
    // Not truncated, and created when missing.
    this.#fd = openSync(join(stateDir, 'clock'), 'a+', 0o600);
    closeSync(this.#fd);
    this.#fd = openSync(join(stateDir, 'clock'), 'r+');
  }

  /** Chain time in milliseconds, or 0 when nothing sound is stored. */
  read(): number {
    const stored = Buffer.alloc(BYTES);
    const length = readSync(this.#fd, stored, 0, BYTES, 0);
    return length === BYTES && crc32(stored.subarray(0, 8)) === stored.readUInt32LE(8)
      ? stored.readDoubleLE(0)
      : 0;
  }

  write(unixMs: number): void {
    const stored = Buffer.alloc(BYTES);
    stored.writeDoubleLE(unixMs, 0);
    stored.writeUInt32LE(crc32(stored.subarray(0, 8)), 8);
    writeSync(this.#fd, stored, 0, BYTES, 0);
  }

  close(): void {
    closeSync(this.#fd);
  }
}
