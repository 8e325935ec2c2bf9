import { REFUSAL_TEXT, type Refusal } from '@agent-rental/contract';
import type { PublicKey } from '@solana/web3.js';
import type { AccessStatus } from '../../credentials/index.js';
import type { PublishedListing } from '../../listings/index.js';
import { ApiError } from '../../errors/api-error.js';
import { schemaViolations } from '../../platform/json-schema/checks.js';

/** `CredentialRevoked` of the program. */
const CREDENTIAL_REVOKED = 6006;

/**
 * Lets only a renter with access through. A credit pays the next run without using the balance.
 *
 * @throws ApiError 403 with the missing access and the next step.
 */
export function requireAccess(
  status: AccessStatus,
  listing: PublishedListing,
  {
    credited = false,
    agreedPriceLamports = null,
    programId,
  }: { credited?: boolean; agreedPriceLamports?: bigint | null; programId: PublicKey },
): void {
  switch (status) {
    case 'active':
      return;
    case 'expired':
      throw new ApiError('credential_expired', REFUSAL_TEXT.subscriptionExpired);
    case 'low_balance':
      if (credited) return;
      throw new ApiError('insufficient_balance', lowBalance(listing, agreedPriceLamports));
    case 'suspended':
      throw suspended(listing);
    case 'not_found':
      throw new ApiError('credential_not_found', REFUSAL_TEXT.notRented(listing.id));
    case 'revoked':
      throw new ApiError('credential_not_found', 'The rental was revoked. It cannot be used any more.', {
        onChainError: { program: programId.toBase58(), anchor_code: CREDENTIAL_REVOKED },
      });
    default:
      return status satisfies never;
  }
}

function lowBalance({ priceLamports }: PublishedListing, agreedLamports: bigint | null): Refusal {
  return agreedLamports !== null && agreedLamports < priceLamports
    ? REFUSAL_TEXT.priceAboveAgreed(priceLamports, agreedLamports)
    : REFUSAL_TEXT.lowBalance(priceLamports);
}

const suspended = ({ suspensionReason }: Pick<PublishedListing, 'suspensionReason'>) =>
  new ApiError('listing_suspended', REFUSAL_TEXT.listingSuspended(suspensionReason));

/**
 * Lets only listings that run through.
 *
 * @throws ApiError `listing_paused`, `listing_suspended` or `listing_not_found`.
 */
export function requireRunning({
  status,
  suspensionReason,
}: Pick<PublishedListing, 'status' | 'suspensionReason'>): void {
  switch (status) {
    case 'active':
      return;
    case 'paused':
      throw new ApiError('listing_paused', REFUSAL_TEXT.listingPaused);
    case 'suspended':
      throw suspended({ suspensionReason });
    case 'closed':
      throw new ApiError('listing_not_found', REFUSAL_TEXT.listingClosed);
    default:
      return status satisfies never;
  }
}

/**
 * Checks an input against the agent's schema, before anything is charged. An absent one passes where the schema takes an
 * empty object or text, or has defaults for the required members.
 *
 * @throws ApiError `invalid_request` naming the path.
 */
export async function requireValidInput(input: unknown, schema: object): Promise<void> {
  if (input === undefined) {
    const missing = await missingInput(schema);
    if (missing === undefined) return;
    throw new ApiError('invalid_request', `input: is required: ${missing}.`, {
      next: 'GET /v1/listings/:id has the input_schema.',
    });
  }
  const [violation] = await schemaViolations(schema, input);
  if (violation) {
    throw new ApiError(
      'invalid_request',
      `input${violation.path.replaceAll('/', '.')}: ${violation.message}.`,
    );
  }
}

/** Why a schema refuses an absent input; undefined where it does not. */
async function missingInput(schema: object): Promise<string | undefined> {
  const { default: whole, properties } = schema as { default?: unknown; properties?: unknown };
  if (whole !== undefined) return undefined;
  const defaults = Object.entries(Object(properties) as Record<string, unknown>).flatMap(
    ([name, property]) => {
      const { default: value } = Object(property) as { default?: unknown };
      return value === undefined ? [] : [[name, value] as const];
    },
  );
  const [violation] = await schemaViolations(schema, Object.fromEntries(defaults));
  if (!violation || (await schemaViolations(schema, '')).length === 0) return undefined;
  return `${violation.path.replaceAll('/', '.').replace(/^\./, '') || 'it'} ${violation.message}`;
}
