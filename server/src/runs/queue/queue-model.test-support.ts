interface Run {
  runId: string;
  wallet: string;
  isPriority: boolean;
}

/** The slots and the queue as a person would keep them: for each class a row of wallets, each with its waiting runs. */
export class QueueModel {
  readonly #slots: number;
  #seated: Run[] = [];
  /** Wallets in the order of their turns, `priority` first. */
  readonly #rows: { wallet: string; runs: Run[] }[][] = [[], []];

  constructor(slots: number) {
    this.#slots = slots;
  }

  come(run: Run): 'seated' | 'waiting' {
    const row = this.#rows[run.isPriority ? 0 : 1] ?? [];
    const own = row.find(({ wallet }) => wallet === run.wallet);
    const ownWaits = this.#rows.flat().some(({ wallet }) => wallet === run.wallet);
    const others = this.#present();
    others.delete(run.wallet);
    if (!ownWaits && this.#mayTake(run.wallet, others.size + 1) && this.#next() === undefined) {
      this.#seated.push(run);
      return 'seated';
    }
    if (own) own.runs.push(run);
    else row.push({ wallet: run.wallet, runs: [run] });
    return 'waiting';
  }

  leave(runId: string): void {
    this.#seated = this.#seated.filter((run) => run.runId !== runId);
    for (const row of this.#rows) {
      for (const own of row) own.runs = own.runs.filter((run) => run.runId !== runId);
      row.splice(0, row.length, ...row.filter(({ runs }) => runs.length > 0));
    }
  }

  /** Slots whose turn it is; gives their runs. */
  handOut(): string[] {
    const given: string[] = [];
    for (;;) {
      const next = this.#next();
      const run = next?.own.runs.shift();
      if (!next || !run) break;
      next.row.splice(next.row.indexOf(next.own), 1);
      if (next.own.runs.length > 0) next.row.push(next.own);
      this.#seated.push(run);
      given.push(run.runId);
    }
    return given;
  }

  seated(): string[] {
    return this.#seated.map(({ runId }) => runId);
  }

  waiting(): string[] {
    return this.#rows.flat().flatMap(({ runs }) => runs.map(({ runId }) => runId));
  }

  #held(wallet: string): number {
    return this.#seated.filter((run) => run.wallet === wallet).length;
  }

  #present(): Set<string> {
    return new Set([...this.#seated, ...this.#rows.flat()].map(({ wallet }) => wallet));
  }

  /** A wallet with slots may have half of them where others are, and leaves one of five for another wallet. */
  #mayTake(wallet: string, wallets: number): boolean {
    const free = this.#slots - this.#seated.length;
    const held = this.#held(wallet);
    if (held === 0) return free > 0;
    const hasGuest = this.#seated.some((run) => run.wallet !== wallet);
    return free > (hasGuest ? 0 : Math.ceil(this.#slots / 5)) && (wallets === 1 || held < this.#slots / 2);
  }

  /** First who holds less than its share, then who may have another slot. */
  #next() {
    const wallets = this.#present().size;
    for (const most of [Math.ceil(this.#slots / Math.max(1, wallets)), this.#slots]) {
      for (const row of this.#rows) {
        const own = row.find(({ wallet }) => this.#held(wallet) < most && this.#mayTake(wallet, wallets));
        if (own) return { row, own };
      }
    }
    return undefined;
  }
}
