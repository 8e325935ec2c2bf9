import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SpendingEntry, SpendingLedger } from '../spending/ledger.js';

/** Time, kind, amount, listing, and what the id comes to: the name is the entry, and the file is empty. */
const NAME = /^(\d{1,16})\.(rental|run)\.(\d{1,20})\.([a-z0-9-]{1,64})\.([0-9a-f]{32})$/;

/** An entry as its file names it. */
type NamedEntry = SpendingEntry & { readonly name: string };

/**
 * A ledger in a folder, one per wallet: an entry is an empty file whose name says everything. Making a file is atomic,
 * so nothing can be half written, and processes that share the folder need no lock that one of them could leave
 * behind. Entries outlive the process, whatever ended it.
 *
 * @param folder made where there is none
 */
export function fileLedger(folder: string): SpendingLedger {
  async function entries(): Promise<NamedEntry[]> {
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names.flatMap((name) => entryOf(name) ?? []);
  }

  return {
    add: async (entry) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const digest = digestOf(entry.id);
      if ((await entries()).some(({ id }) => id === digest)) return false;
      const file = await open(join(folder, nameOf(entry, digest)), 'wx', 0o600);
      await file.close();
      await keep(folder);
      return true;
    },
    since: async (timeMs) => {
      const kept: SpendingEntry[] = [];
      for (const entry of await entries()) {
        if (entry.timeMs >= timeMs) kept.push(entry);
        else await rm(join(folder, entry.name), { force: true });
      }
      return kept;
    },
    settle: async (id, lamports) => {
      const digest = digestOf(id);
      const known = (await entries()).find((entry) => entry.id === digest);
      if (known === undefined) return;
      const path = join(folder, known.name);
      if (lamports > 0n) await rename(path, join(folder, nameOf({ ...known, lamports }, digest)));
      else await rm(path, { force: true });
    },
  };
}

/** Makes a new name survive a power failure, where the system lets a folder be synced. */
async function keep(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  try {
    await handle?.sync().catch(() => undefined);
  } finally {
    await handle?.close();
  }
}

function nameOf({ timeMs, kind, lamports, listingId }: SpendingEntry, digest: string): string {
  return [timeMs, kind, lamports, listingId, digest].join('.');
}

function entryOf(name: string): NamedEntry | undefined {
  const [, timeMs, kind, lamports, listingId = '', id = ''] = NAME.exec(name) ?? [];
  if (timeMs === undefined || lamports === undefined) return undefined;
  return {
    name,
    id,
    kind: kind === 'run' ? 'run' : 'rental',
    listingId,
    lamports: BigInt(lamports),
    timeMs: Number(timeMs),
  };
}

/** Ids may hold anything; of a key, nobody needs more than that it is the same. */
function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}
