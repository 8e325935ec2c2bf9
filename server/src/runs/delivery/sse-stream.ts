import type { ServerResponse } from 'node:http';
import type { DoneEvent } from '@agent-rental/contract';
import { STREAM_HEADERS } from '../../http/stream-headers.js';
import type { OutputSink } from './output-gate.js';

const HEARTBEAT_MS = 15_000;
/** A reader that takes nothing for this long is disconnected. */
const STALL_MS = 30_000;
/** Most characters that wait for a reader; larger than the largest output. */
const MAX_BEHIND_CHARACTERS = 16 * 1024 * 1024;

/**
 * Writes a run as server-sent events. Nothing is sent before `begin`, so that an error can still be an HTTP status.
 * Unread output of a slow reader waits as text, and becomes one event when it reads again. A reader that takes nothing is
 * cut off.
 */
export class SseStream implements OutputSink {
  readonly #response: ServerResponse;
  readonly #headers: () => Record<string, string>;
  readonly #stallMs: number;
  readonly #maxBehind: number;
  #heartbeat: NodeJS.Timeout | undefined;
  #stall: NodeJS.Timeout | undefined;
  #isAbandoned = false;
  /** Deltas that wait for the reader. */
  #behind: string[] = [];
  #behindCharacters = 0;
  #done: DoneEvent | undefined;
  #runId = '';

  constructor(
    response: ServerResponse,
    headers: () => Record<string, string>,
    { stallMs = STALL_MS, maxBehindCharacters = MAX_BEHIND_CHARACTERS } = {},
  ) {
    this.#response = response;
    this.#headers = headers;
    this.#stallMs = stallMs;
    this.#maxBehind = maxBehindCharacters;
  }

  get started(): boolean {
    return this.#heartbeat !== undefined;
  }

  /** The run of the stream; empty before it starts. */
  get runId(): string {
    return this.#runId;
  }

  /** Characters that are kept because the reader has not taken them. */
  get behindCharacters(): number {
    return this.#behindCharacters;
  }

  /** Ends the stream when the request is answered in another way, so that a run that goes on writes nothing here. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  begin(runId: string): void {
    this.#runId = runId;
    if (this.started || this.#isAbandoned || this.#response.headersSent || this.#response.destroyed) return;
    this.#response.writeHead(200, {
      ...this.#headers(),
      ...STREAM_HEADERS,
      'x-run-id': runId,
    });
    // A comment keeps proxies from closing a quiet stream. One that is behind is not quiet.
    this.#heartbeat = setInterval(() => {
      if (!this.#response.writableNeedDrain) this.#write(': still running\n\n');
    }, HEARTBEAT_MS);
    this.#response.on('drain', () => {
      clearTimeout(this.#stall);
      this.#stall = undefined;
      this.#catchUp();
    });
    this.#response.once('close', () => {
      clearInterval(this.#heartbeat);
      clearTimeout(this.#stall);
      this.#behind = [];
      this.#behindCharacters = 0;
    });
    this.#response.flushHeaders();
  }

  delta(text: string): void {
    if (!this.#isOpen()) return;
    this.#behind.push(text);
    this.#behindCharacters += text.length;
    this.#catchUp();
    if (this.#behindCharacters > this.#maxBehind) this.#response.destroy();
  }

  done(event: DoneEvent): void {
    clearInterval(this.#heartbeat);
    if (!this.#isOpen()) return;
    this.#done = event;
    this.#catchUp();
  }

  #isOpen(): boolean {
    return this.started && this.#done === undefined && !this.#response.destroyed;
  }

  /** Writes waiting output, if the reader takes it: the deltas in order, and `done` after all of them. */
  #catchUp(): void {
    if (!this.#response.writableNeedDrain && this.#behind.length > 0) {
      const delta = this.#behind.join('');
      this.#behind = [];
      this.#behindCharacters = 0;
      this.#write(`event: output\ndata: ${JSON.stringify({ delta })}\n\n`);
    }
    if (this.#done && this.#behind.length === 0 && !this.#response.writableEnded) {
      this.#write(`event: done\ndata: ${JSON.stringify(this.#done)}\n\n`);
      this.#response.end();
    }
    if (this.#response.writableNeedDrain || this.#done) {
      // Counts from the last read: output that is produced meanwhile does not extend the time.
      this.#stall ??= setTimeout(() => this.#response.destroy(), this.#stallMs);
    }
  }

  #write(text: string): void {
    if (!this.#response.writableEnded && !this.#response.destroyed) this.#response.write(text);
  }
}
