import * as z from 'zod';
import { base58Signature, lamports, listingId, timestamp, walletAddress } from '../primitives.js';

/** Prefix of an API key, by network. */
export const API_KEY_PREFIX = { devnet: 'ark_dev_', mainnet: 'ark_live_' } as const;

/**
 * The rights of an API key. `run`: run agents, and read runs, receipts and files. `rent`: rent, renew, top up and
 * take a balance back. `publish`: register, change and sell agents.
 */
export const API_KEY_SCOPES = ['run', 'rent', 'publish'] as const;
export const apiKeyScope = z.enum(API_KEY_SCOPES);
export type ApiKeyScope = z.infer<typeof apiKeyScope>;

/** The scopes of a key that is created without naming any. */
export const DEFAULT_API_KEY_SCOPES: readonly ApiKeyScope[] = ['run', 'rent'];

const challengeText = z.string().max(200);

/** The input of the Wallet Standard's `solana:signIn`. `nonce` and the two times bind it to one challenge. */
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
  /** `true` adds the input for a wallet that offers Sign In With Solana. */
  sign_in: z.enum(['true', 'false']).optional(),
});

/** Answer of `GET /v1/auth/challenge`: the string to sign, valid for 60 seconds. */
export const challenge = z
  .object({
    challenge: z.string(),
    expires_at: z.int(),
    /** With `sign_in=true`: the input of `solana:signIn`, in place of the string. */
    sign_in: signInInput.optional(),
  })
  .meta({ id: 'Challenge' });

/** Body of `POST /v1/auth/token`: the challenge's UTF-8 bytes, signed by the wallet. */
export const tokenRequest = z
  .strictObject({
    wallet: walletAddress,
    challenge: challengeText,
    signature: base58Signature,
    /** The Sign In With Solana message, where the wallet signed it in place of the challenge. */
    sign_in_message: z.string().max(2000).optional(),
  })
  .meta({ id: 'TokenRequest' });

/** Answer of `POST /v1/auth/token`: a JWT, valid for one hour. */
export const token = z.object({ token: z.string(), expires_at: z.int() }).meta({ id: 'Token' });

/** Spending limits of an API key. A rule that is absent limits nothing. */
export const spendingPolicy = z
  .strictObject({
    /** The most that one run may draw from a prepaid balance. */
    max_run_lamports: lamports.optional(),
    /**
     * The most within any 24 hours. Runs have one count; rentals, renewals and deposits have another, because a deposit
     * pays for runs that are counted later.
     */
    max_day_lamports: lamports.optional(),
    /** The only listings that the key may run, rent, review or change, and whose rentals and numbers it may read. */
    listing_ids: z.array(listingId).max(100).optional(),
    /** `false`: nothing may be rented, renewed or topped up. */
    can_rent: z.boolean().optional(),
    /** A run or rental above this amount waits until the owner of the wallet has approved it. */
    ask_above_lamports: lamports.optional(),
  })
  .meta({ id: 'SpendingPolicy' });
export type SpendingPolicy = z.infer<typeof spendingPolicy>;

/** A rule of a key's policy. */
export type PolicyRule = keyof SpendingPolicy;

/** The rules of a policy, as a list. */
export const POLICY_RULES = Object.keys(spendingPolicy.shape) as [PolicyRule, ...PolicyRule[]];

/** The terms of a new API key, which the wallet confirms. */
const apiKeyTerms = {
  label: z
    .string()
    .min(1)
    .max(100)
    // Not a pattern: only ECMAScript knows `\p{Cc}`, and other languages read the OpenAPI document, too.
    .refine((label) => !/\p{Cc}/u.test(label), 'holds a control character'),
  /** Absent: `run` and `rent`. */
  scopes: z
    .array(apiKeyScope)
    .min(1)
    .max(API_KEY_SCOPES.length)
    .refine((scopes) => new Set(scopes).size === scopes.length, 'names a scope twice')
    .meta({ uniqueItems: true })
    .optional(),
  /** Absent: only the scopes limit the key. */
  policy: spendingPolicy.optional(),
};

/** Name, scopes and limits of a new API key. */
export type ApiKeyTerms = z.infer<z.ZodObject<typeof apiKeyTerms>>;

/**
 * Body of `POST /v1/api-keys`. The wallet signs `apiKeyMessage(terms, challenge)` with a new challenge. A stolen bearer
 * token alone therefore cannot make a key that never expires.
 */
export const createApiKeyBody = z
  .strictObject({ ...apiKeyTerms, challenge: challengeText, signature: base58Signature })
  .meta({ id: 'CreateApiKey' });

/** An API key, without the key itself. */
export const apiKey = z
  .object({
    id: z.string(),
    label: z.string(),
    scopes: z.array(apiKeyScope),
    policy: spendingPolicy.nullable(),
    created_at: timestamp,
    revoked_at: timestamp.nullable(),
    /**
     * In a list, of a key with `max_day_lamports`: what counts against the limit now. Runs have one count; rentals, renewals
     * and deposits have another.
     */
    spent_24h: z.object({ runs_lamports: lamports, rentals_lamports: lamports }).optional(),
    /** The app that was connected by OAuth. It has no key. */
    app: z
      .object({
        /**
         * The address of its metadata document, or a hash of the id of a client that registered itself. The wallet's address:
         * programs that log in with the key of the wallet.
         */
        client: z.string(),
        /** The target of its login's redirect: a host, or the scheme of an app on the person's machine. */
        redirect_host: z.string(),
        /** The access ends at this time, unless the app uses it before. */
        expires_at: timestamp,
      })
      .optional(),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof apiKey>;

/** Answer of `POST /v1/api-keys`. No later answer holds the key. */
export const createdApiKey = apiKey.extend({ key: z.string() }).meta({ id: 'CreatedApiKey' });

/** Answer of `GET /v1/api-keys`: the wallet's valid keys and connected apps, newest first. */
export const listApiKeysResponse = z.object({ api_keys: z.array(apiKey) }).meta({ id: 'ApiKeyList' });

/**
 * The text that a wallet signs to create an API key. The label, the challenge, and the scopes and the policy of the request
 * have one line each. No line can be forged inside another, because none of them holds a line break.
 */
export function apiKeyMessage({ label, scopes, policy }: ApiKeyTerms, challengeText: string): string {
  const lines = [`agent-rental: create API key "${label}"`];
  if (scopes !== undefined) {
    // The list decides the order, not the request.
    lines.push(`scopes: ${API_KEY_SCOPES.filter((scope) => scopes.includes(scope)).join(', ')}`);
  }
  if (policy !== undefined) {
    // The schema decides the order, not the request.
    const rules = POLICY_RULES.filter((rule) => policy[rule] !== undefined);
    lines.push(`policy: ${JSON.stringify(Object.fromEntries(rules.map((rule) => [rule, policy[rule]])))}`);
  }
  return [...lines, challengeText].join('\n');
}
