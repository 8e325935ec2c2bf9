import * as z from 'zod';
import { RENTAL_MODELS } from './rentals/rental-model.js';

/** The six categories of listings (spec, "Listing"). */
export const CATEGORIES = ['finance', 'legal', 'coding', 'research', 'sales', 'content'] as const;

/** One of the six categories. */
export const category = z.enum(CATEGORIES).meta({ id: 'Category' });
export type Category = z.infer<typeof category>;

/** How a listing is paid for: once, per window of days, or per task from a prepaid balance. */
export const rentalModel = z.enum(RENTAL_MODELS).meta({ id: 'RentalModel' });

/** State of a listing. The on-chain account holds it. `suspended`: the operator took it down. */
export const listingStatus = z
  .enum(['active', 'paused', 'closed', 'suspended'])
  .meta({ id: 'ListingStatus' });
export type ListingStatus = z.infer<typeof listingStatus>;

/** Whose first run of a listing is free. `true`: of every wallet. `renters`: of wallets that rent from another creator. */
export const freeTrial = z.union([z.boolean(), z.literal('renters')]);

const LISTING_ID = { maxLength: 32, pattern: /^[a-z0-9]+(?:-[a-z0-9]+)*-[a-z2-7]{6}$/ };

/**
 * A listing's id: the agent's kebab-case name, cut to fit, and six base32 characters. It is `agent_id` in execution, and
 * the seed of the on-chain account, which has at most 32 bytes.
 */
export const listingId = z
  .string()
  .max(LISTING_ID.maxLength)
  .regex(LISTING_ID.pattern, 'is not a listing id, for example invoice-reader-k3x7qa')
  .meta({ id: 'ListingId' });

/** A listing's id in a path. The schema only describes it; the handler validates it, because its error has a special code. */
export const givenListingId = z
  .string()
  .meta({ maxLength: LISTING_ID.maxLength, pattern: LISTING_ID.pattern.source });

/** A wallet address: a 32-byte ed25519 public key in base58. */
export const walletAddress = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'is not a base58 wallet address')
  .meta({ id: 'WalletAddress' });

/** An ed25519 signature in base58. */
export const base58Signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'is not a base58 signature');

/**
 * An amount of lamports on the wire. The program accepts at most 10^15 lamports. A JSON number is exact up to 2^53, so it
 * holds every amount. Inside the code amounts are `bigint`.
 */
export const lamports = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** An ISO 8601 timestamp in UTC. */
export const timestamp = z.iso.datetime();

/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** A schema of any JSON value. It does not walk the value: values come from a JSON text, whose bounds were checked. */
export const jsonValue = z.custom<Json>((value) => value !== undefined, {
  error: 'expected a JSON value',
  abort: false,
});

/** A schema of a JSON object. It does not walk the object's members. */
export const jsonObject = z
  .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), {
    error: 'expected an object',
    abort: false,
  })
  .meta({ type: 'object' });

/** A JSON Schema, as creators write it in their manifests. */
export const jsonSchema = jsonObject.meta({ id: 'JsonSchema' });
export type JsonSchema = z.infer<typeof jsonSchema>;

const DECIMAL = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** A number in a query, in decimal digits. Other texts that JavaScript reads as numbers are refused: an empty one, `0x10`. */
export const queryNumber = <S extends z.ZodType<number, number>>(schema: S) =>
  z.preprocess((text) => (typeof text === 'string' && DECIMAL.test(text) ? Number(text) : text), schema);

/** `limit` and `offset` of a page. A limit above 100 is refused, not cut (spec-wide rule). */
export const page = {
  limit: queryNumber(z.int().min(1).max(100)).default(20),
  offset: queryNumber(z.int().min(0).max(1_000_000)).default(0),
};

/**
 * A page by `limit` and `offset`, or by `limit` and the `next_cursor` of the page before. A cursor costs the same at any
 * place of the list. It belongs to one list and its filter, and excludes an `offset`.
 */
export const cursorPage = { ...page, cursor: z.string().min(1).max(400).optional() };

/** Fields of the answer of a list with a cursor, beside its items. */
export const pageEnd = {
  /** The start of the next page; absent on the last page. */
  next_cursor: z.string().optional(),
  /** The list is too long for an exact count: it has at least `total` items. */
  total_is_minimum: z.literal(true).optional(),
};

/** Fields of {@link pageEnd}, as an answer has them. */
export type PageEnd = z.infer<z.ZodObject<typeof pageEnd>>;
