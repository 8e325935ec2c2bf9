import { createClient, type RentalClient } from '@agent-rental/sdk';
import { keypairSigner, type WalletSigner } from '@agent-rental/sdk/solana';
import { newRenter, type Market, type Renter } from './renter.js';

/** A user with a wallet, SOL, and both ways to act: by HTTP with a token, and by the sdk. */
export interface Participant extends Renter {
  readonly signer: WalletSigner;
  readonly client: RentalClient;
}

/** Makes a participant with a new wallet. Its client does not retry: the tests check each answer. */
export async function newParticipant(market: Market): Promise<Participant> {
  const renter = await newRenter(market);
  const signer = keypairSigner(renter.wallet);
  return { ...renter, signer, client: createClient({ baseUrl: market.dev.base_url, signer, retries: 0 }) };
}
