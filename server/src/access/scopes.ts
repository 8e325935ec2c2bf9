import type { ApiKeyScope, PolicyRule, RequiredScope } from '@agent-rental/contract';
import { ApiError } from '../errors/api-error.js';
import type { Principal } from './principal.js';

/**
 * Lets a caller pass who has the scope of an operation. A wallet's own login has every scope.
 *
 * @param action the body's `action`, where the operation asks for the scope of that.
 * @throws ApiError 401 `unauthorized` for an API key where only a login will do, 403 for a key without the scope.
 */
export function requireScope(
  { apiKey }: Pick<Principal, 'apiKey'>,
  required: RequiredScope,
  action?: string,
): void {
  if (apiKey === undefined) return;
  if (required === 'login') throw loginRequired();
  const scopes = 'byAction' in required ? scopesOfAction(required.byAction, action) : required;
  if (scopes.some((scope) => apiKey.scopes.includes(scope))) return;
  const names = scopes.map((scope) => `"${scope}"`).join(' or ');
  throw new ApiError(
    // As where a key's policy refuses: the codes are closed, and another login would change nothing.
    'credential_not_found',
    `The API key lacks the scope ${names}; it has ${apiKey.scopes.join(', ')}.`,
    {
      next: `Nothing was changed or charged. Its owner can create a key with that scope: POST /v1/api-keys {"label": ..., "scopes": ["${scopes[0]}", ...]}.`,
      requiredScopes: scopes,
    },
  );
}

/**
 * Lets an API key pass for a listing that its policy names. A wallet's own login passes for every listing.
 *
 * @throws ApiError 403
 */
export function requireListing({ apiKey }: Pick<Principal, 'apiKey'>, listingId: string): void {
  const named = apiKey?.policy?.listing_ids;
  if (named === undefined || named.includes(listingId)) return;
  throw policyRefusal('listing_ids', `it may not be used for ${listingId}`);
}

/**
 * The refusal of a call that a key's spending policy forbids. The specification closes the list of codes. So a payment beyond the
 * key's limits has the code of a small balance, and a forbidden listing has the code of missing access. `policy_rule` tells
 * both from the wallet's own refusals.
 */
export function policyRefusal(rule: PolicyRule, reason: string): ApiError {
  const isAmount = rule === 'max_run_lamports' || rule === 'max_day_lamports';
  return new ApiError(
    isAmount ? 'insufficient_balance' : 'credential_not_found',
    `The API key's spending policy refuses this: ${reason}.`,
    { next: 'Nothing was charged; its owner can make a key with another policy.', policyRule: rule },
  );
}

/** The refusal of an API key where only the token of a wallet's login will do. */
export function loginRequired(): ApiError {
  return new ApiError(
    'unauthorized',
    "This takes the token of a wallet's login, not an API key: keys manage no keys, and decide nothing about where renters' " +
      'data goes.',
    { next: 'Log in with GET /v1/auth/challenge and POST /v1/auth/token.' },
  );
}

function scopesOfAction(
  byAction: Readonly<Record<string, ApiKeyScope>>,
  action: string | undefined,
): readonly ApiKeyScope[] {
  const scope = action === undefined || !Object.hasOwn(byAction, action) ? undefined : byAction[action];
  if (scope === undefined) throw new ApiError('invalid_request', 'The body has no known action.');
  return [scope];
}
