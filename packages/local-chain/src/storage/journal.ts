import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { LocalChainError } from '../errors.js';
import { encodeFrame, FRAME_HEADER_BYTES, readFrame, readFrames } from './frames.js';

export interface JournalOptions {
  /** The folder of the segment files. Created when missing. */
  dir: string;
  /** Where replay starts: 0, or the position a snapshot covers. */
  fromPosition: number;
  /** Called for every record from `fromPosition` on, in order, while the journal opens. */
  replay: (payload: Buffer, position: number) => void;
  /** A new file is started when the current one is at least this long. Default 64 MiB. */
  segmentBytes?: number;
  /** Called when an incomplete last record was cut off. */
  onTornTail?: (details: { file: string; bytes: number }) => void;
  /** Called when everything before `end` has reached the disk. */
  onDurable?: (end: number) => void;
  /** Called when the disk refuses a write or a sync: the chain must end, and start again from the journal on the disk. */
  onFailure: (error: Error) => void;
}

interface Segment {
  start: number;
  file: string;
  fd: number | null;
}

const DEFAULT_SEGMENT_BYTES = 64 * 1024 * 1024;

/**
 * The append-only record of everything the chain accepted, in files named after the position of their first byte.
 *
 * `append` hands the bytes to the operating system before it returns, so a killed process loses nothing.
 * `settled` resolves once they are on the disk, so a power cut loses nothing either. One disk sync serves every
 * record appended while the previous sync was running.
 */
export class Journal {
  readonly #dir: string;
  readonly #segmentBytes: number;
  readonly #onDurable: (end: number) => void;
  readonly #onFailure: (error: Error) => void;
  readonly #segments: Segment[];
  #end: number;
  #durableEnd: number;
  #syncing = false;
  /** From then on memory is ahead of the disk, and no answer may leave. */
  #failed = false;
  #waiting: { end: number; resolve: () => void }[] = [];

  constructor(options: JournalOptions) {
    this.#dir = options.dir;
    this.#segmentBytes = options.segmentBytes ?? DEFAULT_SEGMENT_BYTES;
    this.#onDurable = options.onDurable ?? (() => undefined);
    this.#onFailure = options.onFailure;
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    this.#segments = listSegments(this.#dir);
    this.#end = this.#replay(options);
    this.#durableEnd = this.#end;
  }

  /** The position that the next record will have. */
  get end(): number {
    return this.#end;
  }

  /** Writes one record and returns its position. Throws when the disk refuses it. */
  append(payload: Uint8Array): number {
    const position = this.#end;
    const frame = encodeFrame(payload);
    if (this.#failed) throw new Error('the journal has failed');
    try {
      const fd = this.#writableSegment();
      for (let written = 0; written < frame.length;) written += writeSync(fd, frame, written);
    } catch (error) {
      throw this.#fail(error);
    }
    this.#end = position + frame.length;
    this.#sync();
    return position;
  }

  /** The payload of the record at a position that {@link append} or replay gave. */
  read(position: number): Buffer {
    const segment = this.#segmentOf(position);
    const payload = segment === undefined ? null : readFrame(this.#fdOf(segment), position - segment.start);
    if (payload === null) throw new Error(`journal record at ${position} is unreadable`);
    return payload;
  }

  /** Resolves when every record appended so far is on the disk; never once the disk has failed. */
  async settled(): Promise<void> {
    const end = this.#end;
    if (end <= this.#durableEnd && !this.#failed) return;
    await new Promise<void>((resolve) => this.#waiting.push({ end, resolve }));
  }

  /** Waits for the appended records, and closes the files. No caller may append after that. */
  async close(): Promise<void> {
    if (!this.#failed) await this.settled();
    for (const segment of this.#segments) {
      if (segment.fd === null) continue;
      closeSync(segment.fd);
      segment.fd = null;
    }
  }

  #replay({ fromPosition, replay, onTornTail }: JournalOptions): number {
    const last = this.#segments.at(-1);
    let end = last === undefined ? 0 : last.start + statSync(last.file).size;
    if (fromPosition > end || (this.#segments[0]?.start ?? 0) > fromPosition) {
      throw damaged(`${this.#dir} does not reach position ${fromPosition}, which the snapshot needs`);
    }
    for (const [index, segment] of this.#segments.entries()) {
      const segmentEnd = this.#segments[index + 1]?.start ?? end;
      if (segmentEnd <= fromPosition) continue;
      const fd = this.#fdOf(segment);
      let at = Math.max(fromPosition, segment.start);
      for (const { payload, offset } of readFrames(fd, at - segment.start)) {
        replay(payload, segment.start + offset);
        at = segment.start + offset + FRAME_HEADER_BYTES + payload.length;
      }
      if (at === segmentEnd) continue;
      if (segment !== last) throw damaged(`${segment.file} is damaged at byte ${at - segment.start}`);
      cutTail(segment.file, fd, at - segment.start);
      onTornTail?.({ file: segment.file, bytes: end - at });
      end = at;
    }
    return end;
  }

  #writableSegment(): number {
    const current = this.#segments.at(-1);
    if (current !== undefined && this.#end - current.start < this.#segmentBytes) return this.#fdOf(current);
    if (current !== undefined) fdatasyncSync(this.#fdOf(current));
    const file = join(this.#dir, `${String(this.#end).padStart(16, '0')}.log`);
    const fd = openSync(file, 'a+', 0o600);
    this.#segments.push({ start: this.#end, file, fd });
    syncFolder(this.#dir);
    return fd;
  }

  #sync(): void {
    const current = this.#segments.at(-1);
    if (this.#syncing || current === undefined) return;
    const end = this.#end;
    this.#syncing = true;
    fdatasync(this.#fdOf(current), (error) => {
      this.#syncing = false;
      if (error !== null) {
        this.#fail(error);
        return;
      }
      this.#durableEnd = Math.max(this.#durableEnd, end);
      const ready = this.#waiting.filter((waiter) => waiter.end <= end);
      this.#waiting = this.#waiting.filter((waiter) => waiter.end > end);
      this.#onDurable(end);
      for (const waiter of ready) waiter.resolve();
      if (this.#end > end) this.#sync();
    });
  }

  #fail(cause: unknown): Error {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const error = new Error(`cannot write to ${this.#dir}: ${reason}`, { cause });
    this.#failed = true;
    this.#onFailure(error);
    return error;
  }

  #segmentOf(position: number): Segment | undefined {
    return this.#segments.findLast((segment) => segment.start <= position);
  }

  #fdOf(segment: Segment): number {
    segment.fd ??= openSync(segment.file, 'a+', 0o600);
    return segment.fd;
  }
}

/** Syncs the folder, so that a created or renamed file survives a power cut. */
export function syncFolder(dir: string): void {
  // Windows cannot open a folder; its file systems order these changes themselves.
  if (process.platform === 'win32') return;
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function listSegments(dir: string): Segment[] {
  const segments = readdirSync(dir)
    .filter((name) => /^\d{16}\.log$/u.test(name))
    .sort()
    .map((name): Segment => ({ start: Number(name.slice(0, 16)), file: join(dir, name), fd: null }));
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1];
    if (next !== undefined && segment.start + statSync(segment.file).size !== next.start) {
      throw damaged(`${segment.file} does not end where the next file begins`);
    }
  }
  return segments;
}

/** Keeps the cut bytes beside the journal: no data is lost if they were more than a crash's torn record. */
function cutTail(file: string, fd: number, length: number): void {
  const tail = Buffer.alloc(fstatSync(fd).size - length);
  readSync(fd, tail, 0, tail.length, length);
  writeFileSync(`${file}.torn`, tail, { mode: 0o600 });
  ftruncateSync(fd, length);
  fsyncSync(fd);
}

function damaged(message: string): LocalChainError {
  return new LocalChainError('state_damaged', message);
}
