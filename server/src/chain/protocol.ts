import { decodeProtocol, findProtocolAddress } from '@agent-rental/program-client';
import type { PublicKey } from '@solana/web3.js';
import { StartError } from '../platform/start-error.js';
import type { Chain } from './chain.js';

/** The part of the protocol's on-chain configuration that the server uses. */
export interface ProtocolTerms {
  /** Suspends listings. */
  admin: PublicKey;
  treasury: PublicKey;
  /** Keys that the program accepts as its hot authority. */
  authorities: PublicKey[];
  minQueryPriceLamports: bigint;
  /** The fee in hundredths of a percent. */
  feeBps: number;
}

/** The terms change when the admin sends `update_protocol`; they are read again when they are this old. */
const FRESH_MS = 30_000;

/** Reads the protocol's configuration. The methods reject where the chain is out of reach or the program is not initialised. */
export interface ProtocolReader {
  /** The terms, at most 30 s old. */
  current(): Promise<ProtocolTerms>;
  /** The terms as they are now: for a transaction that the program refused. */
  refreshed(): Promise<ProtocolTerms>;
}

/**
 * Makes a reader that asks the chain once for all that ask at the same time.
 *
 * @param onRead is told the terms each time they were read
 */
export function createProtocolReader(
  chain: Chain,
  now: () => number = Date.now,
  onRead: (terms: ProtocolTerms) => void = () => undefined,
): ProtocolReader {
  let known: { readAt: number; terms: ProtocolTerms } | undefined;
  let reading: Promise<ProtocolTerms> | undefined;
  const refreshed = (): Promise<ProtocolTerms> => {
    reading ??= readProtocol(chain)
      .then((terms) => {
        known = { readAt: now(), terms };
        onRead(terms);
        return terms;
      })
      .finally(() => (reading = undefined));
    return reading;
  };
  return {
    refreshed,
    async current() {
      return known && now() - known.readAt < FRESH_MS ? known.terms : refreshed();
    },
  };
}

/**
 * Reads the protocol's configuration.
 *
 * @throws StartError when the program has not been initialised.
 */
async function readProtocol(chain: Chain): Promise<ProtocolTerms> {
  const address = findProtocolAddress(chain.programId).address;
  const { accounts } = await chain.getAccounts([address]);
  const account = accounts[0];
  if (!account?.owner.equals(chain.programId)) {
    throw new StartError(
      `The marketplace program ${chain.programId.toBase58()} is not initialised on this network. ` +
        'Once it is deployed, its upgrade authority initialises it: npm run operator -- initialize --admin ADDRESS ' +
        '--authority ADDRESS --treasury ADDRESS --keypair FILE. If it is another program or network, correct ' +
        'PROGRAM_ID and SOLANA_RPC_URLS.',
    );
  }
  const protocol = decodeProtocol(account.data);
  return {
    admin: protocol.admin,
    treasury: protocol.treasury,
    authorities: [protocol.authority, ...(protocol.nextAuthority ? [protocol.nextAuthority] : [])],
    minQueryPriceLamports: protocol.minQueryPriceLamports,
    feeBps: protocol.feeBps,
  };
}
