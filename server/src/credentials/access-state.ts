import type { CredentialStatus, ListingStatus, RentalModel } from '@agent-rental/contract';
/** The facts that decide a renter's access, from the index or from the chain. */
export interface AccessState {
  listing: { status: ListingStatus; priceLamports: bigint };
  credential: { valid: boolean; rentalModel: RentalModel; expiresAt: Date | null } | undefined;
  balance: { balanceLamports: bigint; maxPriceLamports: bigint } | undefined;
}

/** The API shows `revoked` as `not_found`. */
export type AccessStatus = CredentialStatus | 'revoked' | 'not_found';

/**
 * Status of a credential (spec, "States and transitions"). A Per-Task balance is low when it cannot pay the next run: it
 * is below the price, or the price is above the agreed one.
 */
export function accessStatus({ listing, credential, balance }: AccessState, now: Date): AccessStatus {
  if (!credential || listing.status === 'closed') return 'not_found';
  if (!credential.valid) return 'revoked';
  if (listing.status === 'suspended') return 'suspended';
  switch (credential.rentalModel) {
    case 'one_time':
      return 'active';
    case 'subscription':
      return credential.expiresAt !== null && credential.expiresAt > now ? 'active' : 'expired';
    case 'per_query': {
      const payable =
        balance !== undefined &&
        balance.balanceLamports >= listing.priceLamports &&
        balance.maxPriceLamports >= listing.priceLamports;
      return payable ? 'active' : 'low_balance';
    }
    default:
      return credential.rentalModel satisfies never;
  }
}
