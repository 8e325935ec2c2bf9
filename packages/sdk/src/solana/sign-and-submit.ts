import type {
  operations,
  TransactionProposal,
  TransactionQuote,
  TransactionRequest,
} from '@agent-rental/contract';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { PublicKey, type Connection } from '@solana/web3.js';
import type { z } from 'zod';
import type { CallOptions, RentalClient } from '../client.js';
import type { Agreement } from './agreement.js';
import { checkTransaction } from './check-transaction.js';
import { readProtocol } from './market-state.js';
import { signChecked } from './sign-checked.js';
import type { WalletSigner } from './signer.js';
import { UntrustedTransactionError } from './untrusted-transaction.js';
import type { WireTransaction } from './wire-transaction.js';

/**
 * Options of a call that signs. Whatever pays wants an agreement to the price: `max_price_lamports` (and for a
 * Per-Task rental `deposit_lamports`) in the terms, or `approve`.
 */
export interface SignOptions extends CallOptions {
  /** Address of the marketplace program, where it is not the default one. */
  programId?: PublicKey | string | undefined;
  /** Shown what the transaction costs, once it is known to do what was asked for; anything but true ends it. */
  approve?: ((quote: TransactionQuote) => boolean | Promise<boolean>) | undefined;
  /**
   * An RPC endpoint of the caller's own choice, to know the protocol's treasury and keys by. Without it they are
   * left to the program, which refuses others.
   */
  connection?: Pick<Connection, 'getMultipleAccountsInfo'> | undefined;
  /** The most that ComputeBudget instructions may cost. Default 100,000 lamports. */
  maxPriorityFeeLamports?: bigint | undefined;
}

/** Answer of a submitted transaction: confirmed, and seen by the index. */
export type SubmittedTransaction = z.output<typeof operations.submitTransaction.response>;

/**
 * Checks a transaction that a server proposed, before it is signed: it does exactly what was asked for, the wallet
 * pays, and nothing but the marketplace program and ComputeBudget is called.
 *
 * @returns what the transaction says
 * @throws UntrustedTransactionError naming what is wrong
 */
export function checkProposal(
  proposal: Pick<TransactionProposal, 'transaction' | 'quote'>,
  request: TransactionRequest,
  wallet: string,
  options: SignOptions & Pick<Agreement, 'treasury' | 'authorities'> = {},
): WireTransaction {
  const asked = { request, wallet: new PublicKey(wallet), programId: programIdOf(options) };
  return checkTransaction(wireOf(proposal), asked, agreementOf(request, proposal.quote, options));
}

/** Gets a transaction from the API, checks it, signs it and submits it; resolves once it is confirmed and indexed. */
export async function signAndSubmit(
  client: RentalClient,
  signer: WalletSigner,
  request: TransactionRequest,
  options: SignOptions = {},
): Promise<SubmittedTransaction> {
  const proposal = await client.createTransaction(request, { signal: options.signal });
  const asked = { request, wallet: new PublicKey(signer.address), programId: programIdOf(options) };
  const protocol = options.connection && (await readProtocol(options.connection, asked.programId));
  const agreement = agreementOf(request, proposal.quote, {
    ...options,
    ...(protocol && {
      treasury: protocol.treasury,
      authorities: [protocol.authority, ...(protocol.nextAuthority ? [protocol.nextAuthority] : [])],
    }),
  });
  const { approve } = options;
  const { wire } = await signChecked(
    wireOf(proposal),
    signer,
    (bytes) => checkTransaction(bytes, asked, agreement),
    approve && (() => approve(proposal.quote)),
  );
  return client.submitTransaction(btoa(String.fromCharCode(...wire)), { signal: options.signal });
}

function programIdOf({ programId }: SignOptions): PublicKey {
  return new PublicKey(programId ?? MARKETPLACE_PROGRAM_ID);
}

function wireOf({ transaction }: Pick<TransactionProposal, 'transaction'>): Uint8Array {
  try {
    return Uint8Array.from(atob(transaction), (character) => character.charCodeAt(0));
  } catch {
    throw new UntrustedTransactionError('malformed', 'is not base64');
  }
}

/** What the caller agrees to: what the terms say; what they leave open, by the quote if it will be approved. */
function agreementOf(
  request: TransactionRequest,
  quote: TransactionQuote,
  options: SignOptions & Pick<Agreement, 'treasury' | 'authorities'>,
): Agreement {
  const { treasury, authorities, maxPriorityFeeLamports } = options;
  const shown = options.approve && {
    price: BigInt(quote.max_price_lamports ?? quote.price_lamports),
    deposit: BigInt(quote.price_lamports),
  };
  const agreement = { treasury, authorities, maxPriorityFeeLamports };
  switch (request.action) {
    case 'rent':
      return {
        ...agreement,
        maxPriceLamports: lamports(request.max_price_lamports) ?? shown?.price,
        depositLamports: lamports(request.deposit_lamports) ?? shown?.deposit,
      };
    case 'renew':
      return { ...agreement, maxPriceLamports: lamports(request.max_price_lamports) ?? shown?.price };
    case 'topup':
      // Whoever adds an amount expects at least one run for it.
      return {
        ...agreement,
        maxPriceLamports:
          lamports(request.max_price_lamports) ?? shown?.price ?? BigInt(request.amount_lamports),
      };
    default:
      return agreement;
  }
}

function lamports(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}
