import {
  ACCESS_CREDENTIAL_OFFSETS,
  ACCOUNT_DISCRIMINATORS,
  chargesOf,
  decodeInstruction,
  PER_QUERY_BALANCE_OFFSETS,
  type DecodedCharge,
} from '@agent-rental/program-client';
import {
  PublicKey,
  type AccountInfo,
  type GetProgramAccountsFilter,
  type VersionedTransactionResponse,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { openSource, reach } from './chain.js';

/** Signatures that one call of the RPC gives. */
const SIGNATURES_PER_PAGE = 1_000;
/** The accounts of the index: a listing before the accounts that refer to it. */
const ACCOUNT_KINDS = ['Listing', 'Escrow', 'AccessCredential', 'PerQueryBalance'] as const;

/** A charge that took effect, by `consume_query` or as one of a `consume_queries`. */
export interface LandedCharge {
  /** UUID. */
  runId: string;
  /** Address of the prepaid balance. */
  balance: string;
  priceLamports: bigint;
  sequence: bigint;
}

/** Accounts of one kind, and the slot they were read at. */
interface ProgramAccounts {
  slot: bigint;
  accounts: readonly { pubkey: PublicKey; account: AccountInfo<Buffer> }[];
}

/** All accounts and transactions of the program, for comparisons and snapshots; no request of a user waits for these. */
export interface ProgramHistory {
  /** The newest finalized transaction that names the program; undefined before the first. */
  newest(): Promise<{ signature: string; slot: bigint } | undefined>;
  /**
   * All finalized accounts of the kinds that are rented, kind by kind. One answer holds all of a kind.
   *
   * @param atLeast the slot that the endpoint must have finalized
   */
  accounts(atLeast: bigint): AsyncIterable<ProgramAccounts>;
  /** Addresses of all listings. */
  listings(): Promise<string[]>;
  /** Addresses of a listing's credentials and balances. */
  holdings(listing: PublicKey): Promise<string[]>;
  /** Finalized transactions that name an account and did not fail, newest first. */
  transactionsOf(address: PublicKey): AsyncIterable<string>;
  /** The charges that a finalized transaction made; null while it cannot be found. */
  chargesIn(signature: string): Promise<LandedCharge[] | null>;
}

/** Reads them from RPC endpoints, one at a time. Every method throws ApiError `service_unavailable` when it is out of reach. */
export function createProgramHistory(
  rpcUrls: string | readonly string[],
  programId: PublicKey,
): ProgramHistory {
  const source = openSource(rpcUrls);

  async function addressesOf(
    name: keyof typeof ACCOUNT_DISCRIMINATORS,
    ...filters: GetProgramAccountsFilter[]
  ): Promise<string[]> {
    // Addresses alone.
    const dataSlice = { offset: 0, length: 0 };
    const found = await reach(() =>
      source.first(({ connection }) =>
        connection.getProgramAccounts(programId, {
          commitment: 'finalized',
          filters: [kindOf(name), ...filters],
          dataSlice,
        }),
      ),
    );
    return found.map(({ pubkey }) => pubkey.toBase58());
  }

  return {
    async newest() {
      const [found] = await reach(() =>
        source.first(({ connection }) =>
          connection.getSignaturesForAddress(programId, { limit: 1 }, 'finalized'),
        ),
      );
      return found && { signature: found.signature, slot: BigInt(found.slot) };
    },

    async *accounts(atLeast) {
      for (const name of ACCOUNT_KINDS) {
        const found = await reach(() =>
          source.first(({ connection }) =>
            connection.getProgramAccounts(programId, {
              commitment: 'finalized',
              filters: [kindOf(name)],
              minContextSlot: Number(atLeast),
              withContext: true,
            }),
          ),
        );
        yield { slot: BigInt(found.context.slot), accounts: found.value };
      }
    },

    listings: () => addressesOf('Listing'),

    async holdings(listing) {
      const of = (offset: number) => ({ memcmp: { offset, bytes: listing.toBase58() } });
      const [credentials, balances] = await Promise.all([
        addressesOf('AccessCredential', of(ACCESS_CREDENTIAL_OFFSETS.listing)),
        addressesOf('PerQueryBalance', of(PER_QUERY_BALANCE_OFFSETS.listing)),
      ]);
      return [...credentials, ...balances];
    },

    async *transactionsOf(address) {
      let before: string | undefined;
      for (;;) {
        const from = { ...(before ? { before } : {}), limit: SIGNATURES_PER_PAGE };
        const page = await reach(() =>
          source.first(({ connection }) => connection.getSignaturesForAddress(address, from, 'finalized')),
        );
        for (const { signature, err } of page) if (err === null) yield signature;
        before = page.at(-1)?.signature;
        if (page.length < SIGNATURES_PER_PAGE) return;
      }
    },

    async chargesIn(signature) {
      const transaction = await reach(() =>
        source.first(
          ({ connection }) =>
            connection.getTransaction(signature, {
              commitment: 'finalized',
              maxSupportedTransactionVersion: 0,
            }),
          (found) => found !== null,
        ),
      );
      return transaction && landedCharges(transaction, programId);
    },
  };
}

/** Matches the accounts of one kind. */
const kindOf = (name: keyof typeof ACCOUNT_DISCRIMINATORS): GetProgramAccountsFilter => ({
  memcmp: { offset: 0, bytes: bs58.encode(ACCOUNT_DISCRIMINATORS[name]) },
});

/** The charges that a transaction made, in its own instructions and in calls between programs. */
function landedCharges(
  { transaction: { message }, meta }: VersionedTransactionResponse,
  programId: PublicKey,
): LandedCharge[] {
  if (meta?.err) return [];
  const loaded = meta?.loadedAddresses;
  const keys = message.getAccountKeys(loaded ? { accountKeysFromLookups: loaded } : undefined);
  const inner = (meta?.innerInstructions ?? []).flatMap(({ instructions }) => instructions);
  const calls = [
    ...message.compiledInstructions,
    ...inner.map(({ programIdIndex, accounts, data }) => ({
      programIdIndex,
      accountKeyIndexes: accounts,
      data: bs58.decode(data),
    })),
  ];
  return calls
    .filter(({ programIdIndex }) => keys.get(programIdIndex)?.equals(programId))
    .map(({ data, accountKeyIndexes }) =>
      decodeInstruction(
        data,
        accountKeyIndexes.map((index) => keys.get(index) ?? PublicKey.default),
      ),
    )
    .flatMap((call) => chargesOf(call).map(toCharge));
}

function toCharge({ runId, perQueryBalance, priceLamports, sequence }: DecodedCharge): LandedCharge {
  const id = Buffer.from(runId).toString('hex');
  return {
    runId: id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    balance: perQueryBalance.toBase58(),
    priceLamports,
    sequence,
  };
}
