/**
 * Records whether the agent of one run was reached: its model began to answer, or its endpoint took the task. This decides
 * when a run is charged, and whether it is charged.
 */
export class AgentContact {
  /** Resolves once the agent was reached, or with false once the run ended without. Never rejects. */
  readonly reached: Promise<boolean>;
  readonly #onReached: () => void;
  #resolve!: (isReached: boolean) => void;
  #isBegun = false;
  #isReached = false;

  /** @param onReached called once, when the agent was reached. */
  constructor(onReached: () => void = () => undefined) {
    this.#onReached = onReached;
    this.reached = new Promise((resolve) => (this.#resolve = resolve));
  }

  /** Whether the task has gone out to the model's vendor or to the endpoint. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  get isReached(): boolean {
    return this.#isReached;
  }

  /** The task goes out. */
  begin(): void {
    this.#isBegun = true;
  }

  /** The agent was reached. */
  reach(): void {
    if (this.#isReached) return;
    this.#isBegun = true;
    this.#isReached = true;
    this.#onReached();
    this.#resolve(true);
  }

  /** The run has ended. */
  close(): void {
    this.#resolve(this.#isReached);
  }
}
