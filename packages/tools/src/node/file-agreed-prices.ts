import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { highestOf, type AgreedPrices } from '../spending/agreed-prices.js';
import { keep, namesIn } from './ledger-folder.js';

const NAME = /^agreed\.([a-z0-9-]{1,64})\.(\d{1,20})$/;

/** Agreed prices in a ledger's folder. Each price is an empty file with listing and price in its name. */
export function fileAgreedPrices(folder: string): AgreedPrices {
  const notedFor = async (listingId: string): Promise<bigint[]> =>
    (await namesIn(folder)).flatMap((name) => {
      const [, id, lamports] = NAME.exec(name) ?? [];
      return id === listingId && lamports !== undefined ? [BigInt(lamports)] : [];
    });
  const pathOf = (listingId: string, lamports: bigint): string =>
    join(folder, `agreed.${listingId}.${lamports}`);
  const note = async (listingId: string, lamports: bigint): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(pathOf(listingId, lamports), '', { mode: 0o600 });
    await keep(folder);
  };

  return {
    note,
    confirm: async (listingId, lamports) => {
      await note(listingId, lamports);
      for (const other of await notedFor(listingId)) {
        if (other !== lamports) await rm(pathOf(listingId, other), { force: true });
      }
    },
    highest: async (listingId) => highestOf(await notedFor(listingId)),
  };
}
