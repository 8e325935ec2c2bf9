import type { AccountInfo, PublicKey } from '@solana/web3.js';

/** Accounts read together, and the slot they were read at. */
export interface AccountsAtSlot {
  slot: bigint;
  accounts: (AccountInfo<Buffer> | null)[];
  /** Whether no fork can take them back. Absent counts as false. */
  isFinal?: boolean;
  /** The same accounts as a second endpoint has them, at the same slot or an older one, where two were asked. */
  second?: { slot: bigint; accounts: (AccountInfo<Buffer> | null)[] };
}

/** Accounts that one call of the RPC gives. */
const MOST_ACCOUNTS = 100;

interface Reading {
  addresses: PublicKey[];
  resolve(found: AccountsAtSlot): void;
  reject(error: unknown): void;
}

/**
 * Reads accounts. Reads of one turn of the event loop go out as one call: runs that start together share it. Nothing is
 * remembered: each call is made after it was asked for.
 */
export function createAccountReader(
  read: (addresses: PublicKey[]) => Promise<AccountsAtSlot>,
): (addresses: PublicKey[]) => Promise<AccountsAtSlot> {
  let waiting: Reading[] = [];

  /** As many waiting reads as one call has room for, the first at least. */
  function nextTogether(): { readings: Reading[]; places: Map<string, number>; addresses: PublicKey[] } {
    const places = new Map<string, number>();
    const addresses: PublicKey[] = [];
    const readings: Reading[] = [];
    for (const reading of waiting) {
      const fresh = reading.addresses.filter((address) => !places.has(address.toBase58()));
      if (readings.length > 0 && addresses.length + fresh.length > MOST_ACCOUNTS) break;
      for (const address of fresh) {
        places.set(address.toBase58(), addresses.length);
        addresses.push(address);
      }
      readings.push(reading);
    }
    waiting = waiting.slice(readings.length);
    return { readings, places, addresses };
  }

  async function readNext(): Promise<void> {
    const { readings, places, addresses } = nextTogether();
    try {
      const { second, ...first } = await read(addresses);
      const partOf = ({ slot, accounts, isFinal = false }: typeof first, wanted: PublicKey[]) => ({
        slot,
        isFinal,
        accounts: wanted.map((address) => accounts[places.get(address.toBase58()) ?? -1] ?? null),
      });
      for (const reading of readings) {
        const part = partOf(first, reading.addresses);
        reading.resolve(second ? { ...part, second: partOf(second, reading.addresses) } : part);
      }
    } catch (error) {
      for (const reading of readings) reading.reject(error);
    }
  }

  return (addresses) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) {
        setImmediate(() => {
          while (waiting.length > 0) void readNext();
        });
      }
      waiting.push({ addresses, resolve, reject });
    });
}
