import type { TransactionProposal, TransactionRequest } from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';
import type { DecodedQuote, SignOptions, WalletSigner } from '@agent-rental/sdk/solana';

/** A payment that is confirmed and indexed by the marketplace. */
export type Payment = Awaited<ReturnType<RentalClient['submitTransaction']>>;

/** Decodes a proposed transaction's maximum cost for its payer. */
export type InspectProposal = (
  proposal: TransactionProposal,
  request: TransactionRequest,
  /** Address of the marketplace program. Default: the published program. */
  programId?: string,
) => Promise<DecodedQuote>;

/** Options of one payment. */
export interface PayOptions {
  /** Gets the transaction's maximum cost before the signature. Only `true` approves. */
  approve(quote: DecodedQuote): boolean;
  /** Called after the signature: from then on the amount may leave the wallet. */
  onSigned(): void;
  readonly signal?: AbortSignal | undefined;
  /** Address of the marketplace program. Default: the published program. */
  readonly programId?: string | undefined;
}

/** A wallet that pays for rentals. Its key stays inside. */
export interface PayingWallet {
  /** Base58. */
  readonly address: string;
  /**
   * Checks a proposal against the request of this wallet, and decodes its maximum cost.
   *
   * @throws UntrustedTransactionError
   */
  readonly inspect: InspectProposal;
  /**
   * Signs and submits the transaction of a request.
   *
   * @throws ApiError, ConnectionError, UntrustedTransactionError
   */
  pay(client: RentalClient, request: TransactionRequest, options: PayOptions): Promise<Payment>;
}

/** Options of {@link payingWallet}. Default of `programId`: the program of the tools or of their client. */
export type PayingWalletOptions = Pick<SignOptions, 'programId' | 'connection' | 'maxPriorityFeeLamports'>;

/**
 * Lets a signer pay for rentals with the SDK, which rebuilds and compares the marketplace's proposal before the signature.
 * The first payment loads the chain's library.
 */
export function payingWallet(signer: WalletSigner, options: PayingWalletOptions = {}): PayingWallet {
  const { address } = signer;
  return {
    address,
    inspect: async (proposal, request, programId) => {
      const { inspectProposal } = await import('@agent-rental/sdk/solana');
      return inspectProposal(proposal, request, address, { programId, ...options }).quote;
    },
    pay: async (client, request, { approve, onSigned, signal, programId }) => {
      const { signAndSubmit } = await import('@agent-rental/sdk/solana');
      const telling: WalletSigner = {
        address,
        signMessage: (message) => signer.signMessage(message),
        signTransaction: async (wire) => {
          const signed = await signer.signTransaction(wire);
          onSigned();
          return signed;
        },
      };
      return signAndSubmit(client, telling, request, { programId, ...options, approve, signal });
    },
  };
}

/** Inspects a proposal for the wallet in it. Another program signs it. */
export const inspectForPayer: InspectProposal = async (proposal, request, programId) => {
  const { inspectProposal } = await import('@agent-rental/sdk/solana');
  return inspectProposal(proposal, request, proposal.payer, { programId }).quote;
};
