import type { ServerResponse } from 'node:http';
import type { DoneEvent } from '@agent-rental/contract';
import type { OutputSink } from './output-gate.js';

const HEARTBEAT_MS = 15_000;

/** Writes a run as server-sent events. Nothing is sent before `begin`, so that an error can still be an HTTP status. */
export class SseStream implements OutputSink {
  readonly #response: ServerResponse;
  readonly #headers: () => Record<string, string>;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, headers: () => Record<string, string>) {
    this.#response = response;
    this.#headers = headers;
  }

  get begun(): boolean {
    return this.#heartbeat !== undefined;
  }

  begin(runId: string): void {
    if (this.begun) return;
    this.#response.writeHead(200, {
      ...this.#headers(),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-run-id': runId,
    });
    // A comment keeps proxies from closing a quiet stream.
    this.#heartbeat = setInterval(() => this.#write(': still running\n\n'), HEARTBEAT_MS);
    this.#response.once('close', () => clearInterval(this.#heartbeat));
    this.#response.flushHeaders();
  }

  delta(text: string): void {
    this.#write(`event: output\ndata: ${JSON.stringify({ delta: text })}\n\n`);
  }

  done(event: DoneEvent): void {
    clearInterval(this.#heartbeat);
    this.#write(`event: done\ndata: ${JSON.stringify(event)}\n\n`);
    this.#response.end();
  }

  #write(text: string): void {
    if (!this.#response.writableEnded && !this.#response.destroyed) this.#response.write(text);
  }
}
