import type { TransactionProposal, TransactionRequest } from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';
import type { DecodedQuote, SignOptions, WalletSigner } from '@agent-rental/sdk/solana';

/** A payment that is confirmed, and seen by the marketplace. */
export type Payment = Awaited<ReturnType<RentalClient['submitTransaction']>>;

/** Tells the most that a proposed transaction takes out of its payer, by the transaction itself. */
export type InspectProposal = (
  proposal: TransactionProposal,
  request: TransactionRequest,
  /** Address of the marketplace program, where it is not the published default. */
  programId?: string,
) => Promise<DecodedQuote>;

/** The judgement of one payment, and the facts told about it. */
export interface PayOptions {
  /** Gets the most that the transaction can take before it is signed; any result but true ends the payment. */
  approve(quote: DecodedQuote): boolean;
  /** Called as soon as there is a signature: from then on the amount may leave the wallet. */
  onSigned(): void;
  readonly signal?: AbortSignal | undefined;
  /** Address of the marketplace program, where it is not the published default. */
  readonly programId?: string | undefined;
}

/** A wallet that pays for rentals. Its key stays inside. */
export interface PayingWallet {
  /** Base58. */
  readonly address: string;
  /**
   * Checks that a proposal follows the request of this wallet, and decodes the most that it can take.
   *
   * @throws UntrustedTransactionError
   */
  readonly inspect: InspectProposal;
  /**
   * Signs and submits the transaction of a request, and nothing else.
   *
   * @throws ApiError, ConnectionError, UntrustedTransactionError
   */
  pay(client: RentalClient, request: TransactionRequest, options: PayOptions): Promise<Payment>;
}

/** Options of {@link payingWallet}. Without `programId` it pays under the one of the tools or of their client. */
export type PayingWalletOptions = Pick<SignOptions, 'programId' | 'connection' | 'maxPriorityFeeLamports'>;

/**
 * Lets a signer pay for rentals, by the sdk: the marketplace's proposal is rebuilt and compared before it is
 * signed. The chain's library is loaded with the first payment and not before.
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

/** Inspects a proposal for the wallet that it names: another program signs it. */
export const inspectForPayer: InspectProposal = async (proposal, request, programId) => {
  const { inspectProposal } = await import('@agent-rental/sdk/solana');
  return inspectProposal(proposal, request, proposal.payer, { programId }).quote;
};
