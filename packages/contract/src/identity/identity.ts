import * as z from 'zod';
import { base58Signature, lamports, listingId, timestamp, walletAddress } from '../primitives.js';

/** Prefix of an API key, by network. */
export const API_KEY_PREFIX = { devnet: 'ark_dev_', mainnet: 'ark_live_' } as const;

/**
 * What an API key may be used for. `run`: run agents, and read what belongs to that. `rent`: rent, renew, top up and take a
 * balance back. `publish`: register, change and sell agents.
 */
export const API_KEY_SCOPES = ['run', 'rent', 'publish'] as const;
export const apiKeyScope = z.enum(API_KEY_SCOPES);
export type ApiKeyScope = z.infer<typeof apiKeyScope>;

/** The scopes of a key that is created without naming any. */
export const DEFAULT_API_KEY_SCOPES: readonly ApiKeyScope[] = ['run', 'rent'];

const challengeText = z.string().max(200);

/** What `solana:signIn` of the Wallet Standard takes: bound to one challenge by `nonce` and the two times. */
export const signInInput = z
  .object({
    domain: z.string(),
    address: walletAddress,
    statement: z.string(),
    uri: z.string(),
    version: z.literal('1'),
    chainId: z.string(),
    nonce: z.string(),
    issuedAt: timestamp,
    expirationTime: timestamp,
  })
  .meta({ id: 'SignInInput' });
export type SignInInput = z.infer<typeof signInInput>;

/** Query of `GET /v1/auth/challenge`. */
export const challengeQuery = z.strictObject({
  wallet: walletAddress,
  /** `true` also gives what a wallet that offers Sign In With Solana takes. */
  sign_in: z.enum(['true', 'false']).optional(),
});

/** Answer of `GET /v1/auth/challenge`: the string to sign, valid for 60 seconds. */
export const challenge = z
  .object({
    challenge: z.string(),
    expires_at: z.int(),
    /** Where it was asked for: what to hand to `solana:signIn` instead of the string. */
    sign_in: signInInput.optional(),
  })
  .meta({ id: 'Challenge' });

/** Body of `POST /v1/auth/token`: the challenge's UTF-8 bytes, signed by the wallet. */
export const tokenRequest = z
  .strictObject({
    wallet: walletAddress,
    challenge: challengeText,
    signature: base58Signature,
    /** The Sign In With Solana message, where the wallet signed that in place of the challenge itself. */
    sign_in_message: z.string().max(2000).optional(),
  })
  .meta({ id: 'TokenRequest' });

/** Answer of `POST /v1/auth/token`: a JWT, valid for one hour. */
export const token = z.object({ token: z.string(), expires_at: z.int() }).meta({ id: 'Token' });

/** What may be done with an API key. What a policy does not name, it does not limit. */
export const spendingPolicy = z
  .strictObject({
    /** The most that one run may draw from a prepaid balance. */
    max_run_lamports: lamports.optional(),
    /**
     * The most within any 24 hours: for runs, and counted apart for rentals, renewals and deposits, because a
     * deposit pays for runs that are counted when they happen.
     */
    max_day_lamports: lamports.optional(),
    /** The only listings that may be run or rented. */
    listing_ids: z.array(listingId).max(100).optional(),
    /** `false`: nothing may be rented, renewed or topped up. */
    can_rent: z.boolean().optional(),
    /** A run or rental above this amount waits until the owner of the wallet has approved it. */
    ask_above_lamports: lamports.optional(),
  })
  .meta({ id: 'SpendingPolicy' });
export type SpendingPolicy = z.infer<typeof spendingPolicy>;

/** Which rule of a key's policy refused a request. */
export type PolicyRule = keyof SpendingPolicy;

/** The rules of a policy, as a list. */
export const POLICY_RULES = Object.keys(spendingPolicy.shape) as [PolicyRule, ...PolicyRule[]];

/** What the wallet confirms when it makes an API key. */
const apiKeyTerms = {
  label: z
    .string()
    .min(1)
    .max(100)
    // Not a pattern: only ECMAScript knows `\p{Cc}`, and the OpenAPI document is for all.
    .refine((label) => !/\p{Cc}/u.test(label), 'holds a control character'),
  /** Absent: `run` and `rent`. */
  scopes: z
    .array(apiKeyScope)
    .min(1)
    .max(API_KEY_SCOPES.length)
    .refine((scopes) => new Set(scopes).size === scopes.length, 'names a scope twice')
    .optional(),
  /** Absent: no limits of its own, beside those of its scopes. */
  policy: spendingPolicy.optional(),
};

/** Name, scopes and limits of an API key to be. */
export type ApiKeyTerms = z.infer<z.ZodObject<typeof apiKeyTerms>>;

/**
 * Body of `POST /v1/api-keys`. The wallet signs `apiKeyMessage(terms, challenge)`, with a challenge got for
 * this purpose, so that a stolen bearer token alone cannot make a key that never expires.
 */
export const createApiKeyBody = z
  .strictObject({ ...apiKeyTerms, challenge: challengeText, signature: base58Signature })
  .meta({ id: 'CreateApiKey' });

/** An API key as it is shown afterwards: everything but the key. */
export const apiKey = z
  .object({
    id: z.string(),
    label: z.string(),
    scopes: z.array(apiKeyScope),
    policy: spendingPolicy.nullable(),
    created_at: timestamp,
    revoked_at: timestamp.nullable(),
    /** Of an app that was connected by OAuth; it has no key that could be shown. */
    app: z
      .object({
        /** The address of its metadata document, or a hash of the id of a client that registered itself. */
        client: z.string(),
        /** Where its login ended: a host, or the scheme of an app on the person's machine. */
        redirect_host: z.string(),
        /** When it ends, unless the app is used before. */
        expires_at: timestamp,
      })
      .optional(),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof apiKey>;

/** Answer of `POST /v1/api-keys`. The key is shown here and never again. */
export const createdApiKey = apiKey.extend({ key: z.string() }).meta({ id: 'CreatedApiKey' });

/** Answer of `GET /v1/api-keys`: the wallet's keys and connected apps that work, newest first. */
export const listApiKeysResponse = z.object({ api_keys: z.array(apiKey) }).meta({ id: 'ApiKeyList' });

/**
 * The text that a wallet signs to create an API key: one line each for the label, the scopes and the policy, where the
 * request names them, and the challenge. No line can be forged inside another, because none of them holds a line break.
 */
export function apiKeyMessage({ label, scopes, policy }: ApiKeyTerms, challengeText: string): string {
  const lines = [`agent-rental: create API key "${label}"`];
  if (scopes !== undefined) {
    // In the order of the list, not of the request.
    lines.push(`scopes: ${API_KEY_SCOPES.filter((scope) => scopes.includes(scope)).join(', ')}`);
  }
  if (policy !== undefined) {
    // The order of the rules is the schema's, whatever the order in the request.
    const rules = POLICY_RULES.filter((rule) => policy[rule] !== undefined);
    lines.push(`policy: ${JSON.stringify(Object.fromEntries(rules.map((rule) => [rule, policy[rule]])))}`);
  }
  return [...lines, challengeText].join('\n');
}
