import type { CredentialVerification, RentalModel } from '@agent-rental/contract';
import { createClient, isApiError, type RentalClient } from '@agent-rental/sdk';
import { createApiKey, rent, type RentTerms, type WalletSigner } from '@agent-rental/sdk/solana';
import type { ExamplesFolder } from './examples-folder.js';

/** The most that this renter pays at once: 10 SOL. */
const MAX_PRICE_LAMPORTS = 10_000_000_000;

/** A renter with plenty of local lamports rents for long. */
const TERMS: Record<RentalModel, RentTerms> = {
  one_time: { max_price_lamports: MAX_PRICE_LAMPORTS },
  subscription: { duration_seconds: 31_536_000, max_price_lamports: MAX_PRICE_LAMPORTS },
  per_query: { deposit_lamports: 100_000_000 },
};

const STANDING: Record<Exclude<CredentialVerification['status'], 'not_found'>, string> = {
  active: 'is rented',
  low_balance: 'is rented, but its prepaid balance is used up: runs are refused until it is topped up',
  suspended: 'is rented, and suspended by the operator: runs are refused',
  expired: 'was rented, and has expired: runs are refused until it is renewed',
};

const API_KEY_FILE = 'renter.api-key';

/** Makes sure that the renter holds a credential, and says in words what there is now. */
export async function ensureRented(
  renter: { client: RentalClient; signer: WalletSigner },
  listing: { id: string; rental_model: RentalModel },
): Promise<string> {
  const { client, signer } = renter;
  const { status } = await client.verifyCredential(listing.id);
  if (status !== 'not_found') return `${listing.id} ${STANDING[status]}`;
  await rent(client, signer, listing.id, TERMS[listing.rental_model]);
  return `Rented ${listing.id} (${listing.rental_model})`;
}

/** The renter's API key: the one kept from an earlier start if it still works, else a new one. */
export async function ensureApiKey(
  renter: { client: RentalClient; signer: WalletSigner },
  folder: ExamplesFolder,
): Promise<{ file: string; key: string }> {
  const file = folder.path(API_KEY_FILE);
  const kept = (await folder.read(API_KEY_FILE))?.trim();
  if (kept && (await isAccepted(kept, renter.client.baseUrl))) return { file, key: kept };
  const { key } = await createApiKey(renter.client, renter.signer, 'example renter');
  await folder.write(API_KEY_FILE, `${key}\n`);
  return { file, key };
}

async function isAccepted(apiKey: string, baseUrl: string): Promise<boolean> {
  try {
    await createClient({ baseUrl, apiKey }).listCredentials({ limit: 1 });
    return true;
  } catch (error) {
    if (isApiError(error) && error.status === 401) return false;
    throw error;
  }
}
