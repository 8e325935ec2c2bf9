import { readPublishedInput } from '../../http/routes/tools.js';
import {
  createMpp,
  createFeedRate,
  createFixedRate,
  createMppChallenges,
  createPaymentRepository,
  createPayPerCall,
  createSettler,
  createTransferSigner,
  createUsdcQuotes,
  createUsdcTill,
  createX402,
  parseRate,
  type RateSource,
  USDC_MINTS,
  type PayPerCall,
  type Settler,
  type UsdcTill,
} from '../../pay-per-call/index.js';
import { refuseIfExceeded } from '../../rate-limits/refuse-if-exceeded.js';
import { requireRunnable } from '../../runs/index.js';
import { createRentalCosts } from '../../transactions/index.js';
import type { UsdcConfig } from '../../config/index.js';
import type { OutboundHttp } from '../../platform/outbound-http.js';
import type { AppParts } from '../app-parts.js';
import type { RoutedParts } from '../routed-parts.js';

/** Composes paying for single calls. The authority's key is the till where the operator names no other. */
export function composePayPerCall(
  { chain, authority, database: { db }, config, logger }: AppParts,
  {
    protocol: { fees, funds },
    listingsAndFiles: { listings, indexer },
    httpPart: { rateLimits },
    ring,
    outbound,
    baseUrl,
  }: Pick<RoutedParts, 'protocol' | 'listingsAndFiles' | 'httpPart' | 'ring' | 'outbound' | 'baseUrl'>,
): { payPerCall: PayPerCall; settler: Settler; usdcTill: UsdcTill | undefined } {
  const payments = createPaymentRepository(db, config.usdc?.floatLamports);
  const mint = USDC_MINTS[config.network];
  const signer = createTransferSigner({ chain, till: authority, authority, fees, mint });
  const settler = createSettler({ chain, payments, signer, indexer, logger });
  const costsOf = createRentalCosts(chain);
  const challenges = createMppChallenges(ring, () => new URL(baseUrl()).hostname);
  const mpp = createMpp({ chain, challenges, network: config.network, till: () => authority.publicKey });
  const usdcTill =
    config.usdc &&
    createUsdcTill({
      chain,
      till: authority,
      payments,
      mint,
      floatLamports: config.usdc.floatLamports,
      reserveLamports: config.authorityReserveLamports,
      logger,
    });
  const x402 =
    config.usdc &&
    usdcTill &&
    createX402({
      quotes: createUsdcQuotes(ring),
      rate: composeRate(config.usdc, outbound, logger),
      usdcTill,
      till: authority,
      network: config.network,
      resourceUrl: () => `${baseUrl()}/v1/execute`,
    });
  const payPerCall = createPayPerCall({
    protocols: x402 ? [mpp, x402] : [mpp],
    listings,
    payments,
    settler,
    chain,
    funds,
    costs: {
      signatures: 1,
      rentLamports: async () => (await costsOf('per_query')).rentLamports,
    },
    requireRunnable: (owner, listing, body) => requireRunnable({ readPublishedInput }, owner, listing, body),
    async countNew(address) {
      refuseIfExceeded(
        await rateLimits.count(`payments:${address}`, config.executionsPerMinute),
        ' with a new payment',
      );
    },
  });
  return { payPerCall, settler, usdcTill };
}

/** The source of the price of SOL. @throws Error for a price that the configuration let through */
export function composeRate(
  { rate }: UsdcConfig,
  outbound: OutboundHttp,
  logger: Pick<AppParts['logger'], 'warn'>,
): RateSource {
  const unitsOf = (text: string): bigint => {
    const units = parseRate(text);
    if (units === undefined) throw new Error(`${text} is no price of SOL in USDC.`);
    return units;
  };
  if ('fixed' in rate) return createFixedRate(unitsOf(rate.fixed));
  const { url, path, maximalAgeMs } = rate;
  const feed = { url, path, maximalAgeMs, least: unitsOf(rate.least), most: unitsOf(rate.most) };
  return createFeedRate(feed, outbound, logger);
}
