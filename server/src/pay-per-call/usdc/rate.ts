import { createDeadline } from '@agent-rental/contract';
import type { Logger } from '../../platform/logger.js';
import { readText, type OutboundHttp } from '../../platform/outbound-http.js';

const LAMPORTS_PER_SOL = 1_000_000_000n;
const RATE_DIGITS = 6;
const READ_EVERY_MS = 30_000;
const READ_WITHIN_MS = 5_000;
const MOST_ANSWER_BYTES = 64 * 1024;

/** Units of USDC for 1 SOL: 1,000,000 units are one USDC. */
export type UnitsPerSol = bigint;

/** The price of SOL in USDC, and why there is none. */
type Rate = { readonly unitsPerSol: UnitsPerSol } | { readonly missing: string };

/** Tells the price of SOL in USDC. It never throws. */
export type RateSource = () => Promise<Rate>;

/** A price feed: an address that answers with JSON. */
export interface RateFeed {
  readonly url: string;
  /** The names on the way to the price in the answer. */
  readonly path: readonly string[];
  /** A price outside of them is not believed. */
  readonly least: UnitsPerSol;
  readonly most: UnitsPerSol;
  /** An older price counts no more. */
  readonly maximalAgeMs: number;
}

/** The units that lamports cost, rounded up. */
export function unitsFor(lamports: bigint, unitsPerSol: UnitsPerSol): bigint {
  return (lamports * unitsPerSol + LAMPORTS_PER_SOL - 1n) / LAMPORTS_PER_SOL;
}

/** Reads a price of SOL in USDC, such as `142.5`; undefined where it is none above 0. More digits than USDC has are cut. */
export function parseRate(text: string): UnitsPerSol | undefined {
  const [, whole = '', fraction = ''] = /^(\d{1,9})(?:\.(\d{1,30}))?$/.exec(text) ?? [];
  if (whole === '') return undefined;
  const units = BigInt(whole + fraction.slice(0, RATE_DIGITS).padEnd(RATE_DIGITS, '0'));
  return units > 0n ? units : undefined;
}

/** A price that the operator sets. */
export const createFixedRate =
  (unitsPerSol: UnitsPerSol): RateSource =>
  async () => ({ unitsPerSol });

/**
 * A price that is read from a feed while it is asked for. A caller waits for the feed only where no price that counts is
 * known.
 *
 * @param now in milliseconds
 */
export function createFeedRate(
  feed: RateFeed,
  outbound: Pick<OutboundHttp, 'fetch'>,
  logger: Pick<Logger, 'warn'>,
  now: () => number = Date.now,
): RateSource {
  let known: { unitsPerSol: UnitsPerSol; readAtMs: number } | undefined;
  let triedAtMs = -Infinity;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    triedAtMs = now();
    try {
      const unitsPerSol = await readFeed(feed, outbound);
      known = { unitsPerSol, readAtMs: triedAtMs };
    } catch (err) {
      logger.warn({ err }, 'the price of SOL in USDC could not be read');
    }
  }

  const fresh = () => (known && now() - known.readAtMs <= feed.maximalAgeMs ? known : undefined);

  return async () => {
    if (!reading && now() - triedAtMs >= READ_EVERY_MS) {
      reading = read().finally(() => (reading = undefined));
    }
    if (!fresh()) await reading;
    const rate = fresh();
    if (rate) return { unitsPerSol: rate.unitsPerSol };
    return { missing: `The price feed gave no price between its bounds in ${feed.maximalAgeMs / 1000} s.` };
  };
}

async function readFeed({ url, path, least, most }: RateFeed, outbound: Pick<OutboundHttp, 'fetch'>) {
  const deadline = createDeadline(READ_WITHIN_MS);
  try {
    const response = await outbound.fetch(url, {
      signal: deadline.signal,
      headers: { accept: 'application/json' },
    });
    const body = await readText(response, MOST_ANSWER_BYTES);
    if (!response.ok) throw new Error(`The price feed answered with ${response.status}.`);
    const found = path.reduce(
      (value: unknown, name) => (Object(value) as Record<string, unknown>)[name],
      JSON.parse(body),
    );
    const price = typeof found === 'number' ? String(found) : found;
    const rate = typeof price === 'string' ? parseRate(price) : undefined;
    if (rate === undefined) throw new Error('The answer of the price feed has no price at its path.');
    if (rate < least || rate > most) throw new Error('The price of the feed is outside of its bounds.');
    return rate;
  } finally {
    deadline.clear();
  }
}
