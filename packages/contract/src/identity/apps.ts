import * as z from 'zod';
import { base58Signature, walletAddress } from '../primitives.js';
import { apiKeyScope, POLICY_RULES, spendingPolicy, type ApiKeyScope } from './identity.js';

/** The scopes that a connected app may have. An app that logs in by OAuth never publishes. */
export const APP_SCOPES = ['run', 'rent'] as const satisfies readonly ApiKeyScope[];
export const appScope = apiKeyScope.extract([...APP_SCOPES]);
export type AppScope = z.infer<typeof appScope>;

/** The parameters of an authorization request (RFC 6749, 7636, 8707, 9449). The server ignores others. */
export const authorizationRequest = z
  .strictObject({
    response_type: z.string().max(40).optional(),
    client_id: z.string().min(1).max(2000),
    redirect_uri: z.string().min(1).max(500),
    code_challenge: z.string().max(128).optional(),
    code_challenge_method: z.string().max(20).optional(),
    scope: z.string().max(500).optional(),
    state: z.string().max(2000).optional(),
    resource: z.string().max(500).optional(),
    dpop_jkt: z.string().max(128).optional(),
  })
  .meta({ id: 'AuthorizationRequest' });
export type AuthorizationRequest = z.infer<typeof authorizationRequest>;

/** A person's decision about an app on the consent page. */
const decision = {
  wallet: walletAddress,
  scopes: z
    .array(appScope)
    .min(1)
    .max(APP_SCOPES.length)
    .refine((scopes) => new Set(scopes).size === scopes.length, 'names a scope twice'),
  /** Absent: no spending limits. */
  policy: spendingPolicy.optional(),
};

/** Body of `POST /v1/apps`: the request that the app made, and the wallet's signature over `appGrantMessage`. */
export const connectAppBody = z
  .strictObject({
    request: authorizationRequest,
    ...decision,
    challenge: z.string().max(200),
    signature: base58Signature,
  })
  .meta({ id: 'ConnectApp' });

/** Answer of `POST /v1/apps`: where the browser goes next, with the code for the app. */
export const connectedApp = z.object({ redirect_to: z.string() }).meta({ id: 'ConnectedApp' });

/** Everything that a wallet grants to an app. */
export interface AppGrant {
  /** The address of the client's metadata document, or a hash of the id of a client that registered itself. */
  client: string;
  /** The client's name for itself: one line, without a double quotation mark. */
  name: string;
  /** The address that receives the code. */
  redirect_uri: string;
  /** The only address that accepts the app's tokens. */
  resource: string;
  scopes: readonly AppScope[];
  policy?: z.infer<typeof spendingPolicy> | undefined;
  wallet: string;
}

/**
 * The text that a wallet signs to connect an app. Each right that it grants has a separate line. No line can be forged
 * inside another, because none of them holds a line break. The challenge holds the time, ends after 60 seconds and works once.
 */
export function appGrantMessage(grant: AppGrant, challengeText: string): string {
  const { policy = {} } = grant;
  const rules = POLICY_RULES.filter((rule) => policy[rule] !== undefined);
  return [
    `agent-rental: connect the app "${grant.name}"`,
    `client: ${grant.client}`,
    `answers to: ${grant.redirect_uri}`,
    `resource: ${grant.resource}`,
    `scopes: ${APP_SCOPES.filter((scope) => grant.scopes.includes(scope)).join(', ')}`,
    `policy: ${JSON.stringify(Object.fromEntries(rules.map((rule) => [rule, policy[rule]])))}`,
    `wallet: ${grant.wallet}`,
    challengeText,
  ].join('\n');
}
