import { setImmediate } from 'node:timers/promises';
import { EventBounds, ModelLimitError } from './event-bounds.js';

export { ModelLimitError };

/** Bytes of an answer that are read in one iteration of the event loop. */
const PIECE_BYTES = 16 * 1024;

/** The limits on an agent's model use in one run, however it behaves. Calls are counted where the runner is driven. */
export interface ModelLimits {
  /** Input and output together, as the vendor counts them. */
  tokens: number;
  /** Of one answer, as it comes in. */
  responseBytes: number;
  /** Of all requests and answers. */
  totalBytes: number;
}

/**
 * A conversation is at most two million characters, and each of up to 17 calls sends it again. An honest answer is some
 * hundred kilobytes of events.
 */
export const DEFAULT_MODEL_LIMITS: ModelLimits = {
  tokens: 4_000_000,
  responseBytes: 16 * 1024 * 1024,
  totalBytes: 96 * 1024 * 1024,
};

/** The model use of one run so far. */
export interface ModelUsage {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly bytes: number;
}

/** Counts the model use of one run, and ends the run at the limit. */
export class ModelMeter {
  readonly #limits: ModelLimits;
  #calls = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #bytes = 0;

  constructor(limits: ModelLimits) {
    this.#limits = limits;
  }

  get usage(): ModelUsage {
    return {
      calls: this.#calls,
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      bytes: this.#bytes,
    };
  }

  /** @throws ModelLimitError when nothing is left for another call. */
  beginCall(): void {
    this.#calls += 1;
    if (this.#inputTokens + this.#outputTokens >= this.#limits.tokens) {
      throw new ModelLimitError(`the run used more than ${this.#limits.tokens} tokens`);
    }
  }

  countTokens(input: number | undefined, output: number | undefined): void {
    this.#inputTokens += input ?? 0;
    this.#outputTokens += output ?? 0;
  }

  /** `fetch` whose bodies are counted, both ways. An answer beyond the limit breaks with a ModelLimitError. */
  metered(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (input, init) => {
      this.#countBytes(typeof init?.body === 'string' ? Buffer.byteLength(init.body) : 0);
      const response = await fetch(input, init);
      if (response.body === null) return response;
      let size = 0;
      const events = new EventBounds();
      const counted = new TransformStream<Uint8Array, Uint8Array>({
        transform: async (chunk, controller) => {
          size += chunk.length;
          if (size > this.#limits.responseBytes) {
            throw new ModelLimitError(
              `its model answered with more than ${this.#limits.responseBytes} bytes`,
            );
          }
          this.#countBytes(chunk.length);
          for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
            if (at > 0) await setImmediate();
            const piece = chunk.subarray(at, at + PIECE_BYTES);
            events.take(piece);
            controller.enqueue(piece);
          }
        },
        flush: () => events.end(),
      });
      const { status, statusText, headers } = response;
      return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
    };
  }

  #countBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.totalBytes) {
      throw new ModelLimitError(
        `the run exchanged more than ${this.#limits.totalBytes} bytes with its model`,
      );
    }
  }
}
