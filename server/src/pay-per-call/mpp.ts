import { PublicKey, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Chain } from '../chain/index.js';
import type { MppChallenges, MppCredential } from './mpp-challenge.js';
import type { Payment, PaymentProtocol, PresentedPayment } from './payment.js';
import { PaymentRefusal } from './refusal.js';
import { checkSolTransfer, readTransaction, type ReadTransaction } from './sol-transfer.js';

/** MPP's names of networks. */
const NETWORKS = { localnet: 'localnet', devnet: 'devnet', mainnet: 'mainnet-beta' } as const;
const SIGNATURE_BYTES = 64;

interface PresentedByMpp extends PresentedPayment {
  signature: string;
  credential: MppCredential;
  /** Absent where the payer sent its transaction itself. */
  transaction: ReadTransaction | undefined;
}

/** Makes MPP's way to pay in SOL: the method `solana` with the intent `charge`, without sponsored fees. */
export function createMpp(deps: {
  chain: Pick<Chain, 'latestBlockhash' | 'statuses' | 'landedTransaction'>;
  challenges: MppChallenges;
  network: keyof typeof NETWORKS;
  /** The address that is paid. */
  till: () => PublicKey;
}): PaymentProtocol<PresentedByMpp> {
  const { chain, challenges, network, till } = deps;
  return {
    name: 'mpp',
    async challenge({ lamports, priceLamports, listing }) {
      const { blockhash, lifeSeconds } = await chain.latestBlockhash();
      const challenge = challenges.issue({
        lamports,
        recipient: till().toBase58(),
        network: NETWORKS[network],
        recentBlockhash: blockhash,
        listingId: listing.id,
        priceLamports,
        expires: new Date(Date.now() + lifeSeconds * 1000),
      });
      return { 'WWW-Authenticate': challenge };
    },

    read({ authorization }) {
      const credential = challenges.read(authorization);
      if (!credential) return undefined;
      const { payload, challengeId, listingId } = credential;
      const transaction =
        payload.type === 'transaction'
          ? readTransaction(Buffer.from(payload.transaction, 'base64'))
          : undefined;
      const signature = payload.type === 'signature' ? payload.signature : (transaction?.signature ?? '');
      if (!isSignature(signature))
        throw new PaymentRefusal('malformed-credential', 'The payment names no signature of a transaction.');
      return { signature, challengeId, listingId, credential, transaction };
    },

    async check({ signature, credential, transaction }) {
      const expected = {
        recipient: new PublicKey(credential.recipient),
        lamports: credential.lamports,
        memo: credential.memo,
      };
      // Before any call of the chain.
      if (transaction) checkSolTransfer(transaction, expected);
      const isExpired = credential.expires.getTime() < Date.now();
      const hasLanded = (!transaction || isExpired) && (await isOnChain(chain, signature));
      if (!hasLanded && isExpired)
        throw new PaymentRefusal('payment-expired', 'The challenge of this payment has expired.');
      const paid = transaction ?? (hasLanded ? await readLanded(chain, signature) : undefined);
      if (!paid)
        throw new PaymentRefusal('verification-failed', 'The transaction of this payment has not landed.');
      const payer = checkSolTransfer(paid, expected);
      return {
        hasLanded,
        payment: {
          signature,
          protocol: 'mpp',
          challenge_id: credential.challengeId,
          wallet: payer.toBase58(),
          listing_id: credential.listingId,
          price_lamports: credential.priceLamports,
          lamports: credential.lamports,
          units: null,
          identifier: null,
          signed_bytes: paid.bytes,
        },
      };
    },

    receipt: ({ signature, challenge_id: challengeId, updated_at: updatedAt }: Payment) => ({
      'Payment-Receipt': Buffer.from(
        JSON.stringify({
          method: 'solana',
          status: 'success',
          reference: signature,
          challengeId,
          timestamp: updatedAt.toISOString(),
        }),
      ).toString('base64url'),
    }),
  };
}

/** Whether a transaction has taken effect. */
async function isOnChain(chain: Pick<Chain, 'statuses'>, signature: string): Promise<boolean> {
  const [status] = await chain.statuses([signature], true);
  return status?.err === null && status.confirmationStatus !== 'processed';
}

async function readLanded(
  chain: Pick<Chain, 'landedTransaction'>,
  signature: string,
): Promise<ReadTransaction | undefined> {
  const found = await chain.landedTransaction(signature);
  if (!found) return undefined;
  const { message, signatures } = found.transaction;
  const signed = new VersionedTransaction(
    message,
    signatures.map((each) => bs58.decode(each)),
  );
  return readTransaction(Buffer.from(signed.serialize()));
}

function isSignature(text: string): boolean {
  return /^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(text) && bs58.decode(text).length === SIGNATURE_BYTES;
}
