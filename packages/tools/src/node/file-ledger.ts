import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SpendingEntry, SpendingLedger } from '../spending/ledger.js';
import { fileAgreedPrices } from './file-agreed-prices.js';
import { fileQuestions } from './file-questions.js';
import { digestOf, keep, namesIn } from './ledger-folder.js';

/** The name of an entry's empty file: time, kind, amount, listing, hash of the id, and the allowed amount. */
const NAME = /^(\d{1,16})\.(rental|run)\.(\d{1,20})\.([a-z0-9-]{1,64})\.([0-9a-f]{32})(?:\.(\d{1,20}))?$/;

/** An entry, read from its file's name. */
type NamedEntry = SpendingEntry & { readonly name: string };

/**
 * A ledger in a folder, one per wallet. An entry is an empty file with all data in its name. A file is created atomically:
 * no entry is half written, and processes that share the folder need no lock. Entries survive the end of the process.
 *
 * @param folder created if missing
 */
export function fileLedger(folder: string): SpendingLedger {
  async function entries(): Promise<NamedEntry[]> {
    return (await namesIn(folder)).flatMap((name) => entryOf(name) ?? []);
  }
  async function found(id: string): Promise<NamedEntry | undefined> {
    const digest = digestOf(id);
    return (await entries()).find((entry) => entry.id === digest);
  }
  async function change(id: string, changes: Partial<SpendingEntry>): Promise<void> {
    const known = await found(id);
    if (known === undefined) return;
    const name = nameOf({ ...known, ...changes }, known.id);
    await rename(join(folder, known.name), join(folder, name));
  }

  return {
    add: async (entry) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if ((await found(entry.id)) !== undefined) return false;
      const file = await open(join(folder, nameOf(entry, digestOf(entry.id))), 'wx', 0o600);
      await file.close();
      await keep(folder);
      return true;
    },
    find: found,
    since: async (timeMs) => {
      const kept: SpendingEntry[] = [];
      for (const entry of await entries()) {
        if (entry.timeMs >= timeMs) kept.push(entry);
        else await rm(join(folder, entry.name), { force: true });
      }
      return kept;
    },
    settle: (id, lamports) => change(id, { lamports }),
    release: async (id, timeMs) => {
      const known = await found(id);
      // The time is part of the name: the file of a moved entry has another name.
      if (known?.timeMs === timeMs) await rm(join(folder, known.name), { force: true });
    },
    move: (id, timeMs) => change(id, { timeMs }),
    questions: fileQuestions(folder),
    agreedPrices: fileAgreedPrices(folder),
  };
}

function nameOf(
  { timeMs, kind, lamports, listingId, allowedLamports }: SpendingEntry,
  digest: string,
): string {
  return [timeMs, kind, lamports, listingId, digest, allowedLamports].join('.');
}

function entryOf(name: string): NamedEntry | undefined {
  const [, timeMs, kind, lamports, listingId = '', id = '', allowed] = NAME.exec(name) ?? [];
  if (timeMs === undefined || lamports === undefined) return undefined;
  return {
    name,
    id,
    kind: kind === 'run' ? 'run' : 'rental',
    listingId,
    lamports: BigInt(lamports),
    allowedLamports: BigInt(allowed ?? lamports),
    timeMs: Number(timeMs),
  };
}
