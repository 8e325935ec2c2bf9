import type { Json } from '@agent-rental/contract';

/** Where a run's output goes as it is made. */
export interface OutputSink {
  /** Called once, before the first delta: from here on the answer is a stream. */
  begin(runId: string): void;
  delta(text: string): void;
}

/**
 * Holds output back until the run is paid. Deltas wait in order; opening the gate sends them and all later ones. For a run
 * that may be credited, the database first records that output leaves, because a run whose output has left is never
 * credited.
 */
export class OutputGate {
  readonly #sink: OutputSink | undefined;
  readonly #runId: string;
  readonly #recordFirst: (() => Promise<void>) | undefined;
  #held: string[] = [];
  #isOpen = false;
  #isClosed = false;
  #sent = '';
  /** Resolves once it is on record that output leaves. */
  #recording: Promise<void> | undefined;
  #isRecorded: boolean;

  /** @param recordFirst puts on record that output leaves; absent: the run is never credited. */
  constructor(sink: OutputSink | undefined, runId: string, recordFirst?: () => Promise<void>) {
    this.#sink = sink;
    this.#runId = runId;
    this.#recordFirst = sink && recordFirst;
    this.#isRecorded = this.#recordFirst === undefined;
  }

  /** Everything that was pushed so far. */
  get text(): string {
    return this.#sent + this.#held.join('');
  }

  /** Whether any output has left, or is about to. */
  get hasLeft(): boolean {
    return this.#sink !== undefined && (this.#sent !== '' || this.#recording !== undefined);
  }

  /** Whether any output has left. After `drop` none leaves any more. */
  get hasSent(): boolean {
    return this.#sink !== undefined && this.#sent !== '';
  }

  push(delta: string): void {
    if (delta === '' || this.#isClosed) return;
    if (!this.#isOpen || !this.#isRecorded) {
      this.#held.push(delta);
      if (this.#isOpen) this.#record();
      return;
    }
    this.#sent += delta;
    this.#sink?.delta(delta);
  }

  /** Notes that the run is paid: held output leaves, and all later output at once. */
  open(): void {
    if (this.#isOpen || this.#isClosed) return;
    this.#isOpen = true;
    this.#sink?.begin(this.#runId);
    if (this.#isRecorded) this.#release();
    else if (this.#held.length > 0) this.#record();
  }

  /** Notes that the end of the run is on record. Later output needs no record. */
  markRecorded(): void {
    this.#isRecorded = true;
    if (this.#isOpen) this.#release();
  }

  /** Drops held output: the run was not delivered, or its result waits for its charge. */
  drop(): void {
    this.#isClosed = true;
    this.#held = [];
  }

  #record(): void {
    this.#recording ??= (this.#recordFirst?.() ?? Promise.resolve()).then(() => this.markRecorded());
    // Output that cannot be recorded stays here until the run's end is on record, or cannot be recorded either.
    this.#recording.catch(() => undefined);
  }

  #release(): void {
    const held = this.#held;
    this.#held = [];
    for (const delta of held) this.push(delta);
  }
}

/** An output as a stream's deltas give it: text as it is, anything else as JSON. */
export function outputAsText(output: Json): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}
