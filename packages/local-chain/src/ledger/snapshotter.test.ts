import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HistoryIndex } from '../storage/history-index.js';
import { loadSnapshot } from '../storage/snapshot.js';
import { temporaryFolder } from '../testing/chain-fixture.js';
import { addressKey, type AccountState } from './account-state.js';
import { Snapshotter } from './snapshotter.js';

const account = (lamports: bigint): AccountState => ({
  lamports,
  owner: Buffer.alloc(32),
  executable: false,
  data: Buffer.from('data'),
});

describe('Snapshotter', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  const start = (
    accounts: Map<string, AccountState>,
    errors: unknown[] = [],
    dir = folder.path,
  ): Snapshotter =>
    new Snapshotter(
      {
        dir,
        intervalBytes: 100,
        capture: () => ({
          position: 150,
          unixMs: 5_000,
          offsetMs: 7,
          accountKeys: accounts.keys(),
          unfinalized: [{ slot: 9, number: 3, before: [{ address: Buffer.alloc(32, 1), account: null }] }],
          history: new HistoryIndex().dump(),
        }),
        accountAt: (address) => accounts.get(addressKey(address)) ?? null,
        settled: () => Promise.resolve(),
        onError: (error) => errors.push(error),
      },
      0,
    );

  it('writes the accounts of its start, while they change', async () => {
    const [changed, removed, kept, added] = [1, 2, 3, 4].map((byte) =>
      addressKey(Buffer.alloc(32, byte)),
    ) as [string, string, string, string];
    const accounts = new Map([changed, removed, kept].map((key) => [key, account(10n)]));
    const snapshotter = start(accounts);
    snapshotter.considerAt(99);
    await snapshotter.idle();
    expect(loadSnapshot(folder.path, ignore)).toBeNull();

    snapshotter.considerAt(150);
    for (const lamports of [20n, 30n]) {
      snapshotter.beforeChange(changed, accounts.get(changed) ?? null);
      accounts.set(changed, account(lamports));
    }
    snapshotter.beforeChange(removed, account(10n));
    accounts.delete(removed);
    snapshotter.beforeChange(added, null);
    accounts.set(added, account(1n));
    await snapshotter.idle();

    const seen = new Map<string, bigint | undefined>();
    const unfinalized: unknown[] = [];
    const header = loadSnapshot(folder.path, {
      ...ignore,
      account: ({ address, account: state }) => seen.set(addressKey(address), state?.lamports),
      unfinalized: (entry) => unfinalized.push(entry),
    });
    expect(header).toEqual({ position: 150, unixMs: 5_000, offsetMs: 7 });
    expect(Object.fromEntries(seen)).toEqual({ [changed]: 10n, [removed]: 10n, [kept]: 10n });
    expect(unfinalized).toEqual([
      { slot: 9, number: 3, before: [{ address: Buffer.alloc(32, 1), account: null }] },
    ]);
  });

  it('reports a failure and leaves the chain running', async () => {
    const errors: unknown[] = [];
    const snapshotter = start(new Map(), errors, `${folder.path}/missing`);
    snapshotter.considerAt(1_000);
    await snapshotter.idle();
    expect(errors).toEqual([expect.objectContaining({ code: 'ENOENT' })]);
  });
});

const ignore = { account: () => undefined, unfinalized: () => undefined, history: () => undefined };
