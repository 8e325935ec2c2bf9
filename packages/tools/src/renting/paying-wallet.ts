import type { TransactionQuote, TransactionRequest } from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';
import type { SignOptions, WalletSigner } from '@agent-rental/sdk/solana';

/** A payment that is confirmed, and seen by the marketplace. */
export type Payment = Awaited<ReturnType<RentalClient['submitTransaction']>>;

/** A wallet that pays for rentals. Its key stays inside. */
export interface PayingWallet {
  /** Base58. */
  readonly address: string;
  /**
   * Signs and submits what a request asks for, and nothing else.
   *
   * @param approve shown the quote of the transaction that would be signed; anything but true ends it
   * @throws ApiError, ConnectionError, UntrustedTransactionError
   */
  pay(
    client: RentalClient,
    request: TransactionRequest,
    approve: (quote: TransactionQuote) => boolean,
    signal?: AbortSignal,
  ): Promise<Payment>;
}

/** Options of {@link payingWallet}. */
export type PayingWalletOptions = Pick<SignOptions, 'programId' | 'connection' | 'maxPriorityFeeLamports'>;

/**
 * Lets a signer pay for rentals, by the sdk: what the marketplace proposes is rebuilt and compared before it is
 * signed. The chain's library is loaded with the first payment and not before.
 */
export function payingWallet(signer: WalletSigner, options: PayingWalletOptions = {}): PayingWallet {
  return {
    address: signer.address,
    pay: async (client, request, approve, signal) => {
      const { signAndSubmit } = await import('@agent-rental/sdk/solana');
      return signAndSubmit(client, signer, request, { ...options, approve, signal });
    },
  };
}
