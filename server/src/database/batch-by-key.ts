/** The result of one item of a batch: one may fail although the others do not. */
export type Outcome<Result> = { value: Result } | { error: unknown };

/**
 * Batches work by key. One batch of a key runs at a time, and the items that arrive during it are the next batch.
 * So a hundred items that arrive together are two batches, not a hundred steps in line.
 *
 * @param work gives an outcome for each item, in order. Its exception is every item's outcome.
 */
export function batchByKey<Item, Result>(
  work: (key: string, items: readonly Item[]) => Promise<Outcome<Result>[]>,
): (key: string, item: Item) => Promise<Result> {
  interface Waiting {
    item: Item;
    resolve(value: Result): void;
    reject(error: unknown): void;
  }
  /** Items of the next batch. A key is here while a batch of it is under way. */
  const next = new Map<string, Waiting[]>();

  async function runBatches(key: string): Promise<void> {
    for (let batch = next.get(key) ?? []; batch.length > 0; batch = next.get(key) ?? []) {
      next.set(key, []);
      const items = batch.map(({ item }) => item);
      const outcomes = await work(key, items).catch((error: unknown) => batch.map(() => ({ error })));
      for (const [index, { resolve, reject }] of batch.entries()) {
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
      if (waiting === undefined) void runBatches(key);
    });
}

/**
 * Shares a read between callers that ask for the same key at the same time. Nothing is cached: each read begins after it
 * was asked for.
 *
 * @param read reads a value without changing it
 */
export function sharedRead<Result>(read: (key: string) => Promise<Result>): (key: string) => Promise<Result> {
  const reads = batchByKey<undefined, Result>(async (key, askers) => {
    const value = await read(key);
    return askers.map(() => ({ value }));
  });
  return (key) => reads(key, undefined);
}
