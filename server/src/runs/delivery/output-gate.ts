import type { Json } from '@agent-rental/contract';

/** Where a run's output goes as it is made. */
export interface OutputSink {
  /** Called once, before the first delta: from here on the answer is a stream. */
  begin(runId: string): void;
  delta(text: string): void;
}

/**
 * Holds output back until it is paid for. Deltas wait in order; opening lets them and all later ones through.
 */
export class OutputGate {
  readonly #sink: OutputSink | undefined;
  readonly #runId: string;
  #held: string[] = [];
  #isOpen = false;
  #sent = '';

  constructor(sink: OutputSink | undefined, runId: string) {
    this.#sink = sink;
    this.#runId = runId;
  }

  /** Everything that was pushed so far. */
  get text(): string {
    return this.#sent + this.#held.join('');
  }

  push(delta: string): void {
    if (delta === '') return;
    if (!this.#isOpen) {
      this.#held.push(delta);
      return;
    }
    this.#sent += delta;
    this.#sink?.delta(delta);
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#sink?.begin(this.#runId);
    const held = this.#held;
    this.#held = [];
    for (const delta of held) this.push(delta);
  }
}

/** An output as a stream's deltas give it: text as it is, anything else as JSON. */
export function outputAsText(output: Json): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}
