/** What became of one item, where others of its round may have come to something else. */
export type Outcome<Result> = { value: Result } | { error: unknown };

/**
 * Makes rounds of work: one at a time for each key, and whatever is asked for under a key during a round goes into the next
 * one together. Where each item would wait for the one before it, a hundred that come at once are two rounds.
 *
 * @param work gives an outcome for each item, in their order; when it throws, that is every item's outcome.
 */
export function together<Item, Result>(
  work: (key: string, items: readonly Item[]) => Promise<Outcome<Result>[]>,
): (key: string, item: Item) => Promise<Result> {
  interface Waiting {
    item: Item;
    resolve(value: Result): void;
    reject(error: unknown): void;
  }
  /** Who goes into the next round; a key is here while a round of it goes on. */
  const next = new Map<string, Waiting[]>();

  async function rounds(key: string): Promise<void> {
    for (let round = next.get(key) ?? []; round.length > 0; round = next.get(key) ?? []) {
      next.set(key, []);
      const items = round.map(({ item }) => item);
      const outcomes = await work(key, items).catch((error: unknown) => round.map(() => ({ error })));
      for (const [index, { resolve, reject }] of round.entries()) {
        const outcome = outcomes[index] ?? { error: new Error('An item has no outcome.') };
        if ('value' in outcome) resolve(outcome.value);
        else reject(outcome.error);
      }
    }
    next.delete(key);
  }

  return (key, item) =>
    new Promise((resolve, reject) => {
      const waiting = next.get(key);
      next.set(key, [...(waiting ?? []), { item, resolve, reject }]);
      if (waiting === undefined) void rounds(key);
    });
}

/**
 * Makes a read that all share who ask for the same at the same time: one at a time for each key. Nothing is remembered:
 * each read begins after it was asked for.
 *
 * @param read reads a value without changing it
 */
export function sharedRead<Result>(read: (key: string) => Promise<Result>): (key: string) => Promise<Result> {
  const reads = together<undefined, Result>(async (key, askers) => {
    const value = await read(key);
    return askers.map(() => ({ value }));
  });
  return (key) => reads(key, undefined);
}
