import { formatSol } from '@agent-rental/contract';
import type { PublicKey } from '@solana/web3.js';
import { createChain, type Chain } from '../../chain/index.js';
import { composeRate } from '../../compose/index.js';
import type { UsdcConfig } from '../../config/index.js';
import { openDatabase } from '../../database/connection.js';
import { createPaymentRepository, readTill, USDC_MINTS } from '../../pay-per-call/index.js';
import { createOutboundHttp } from '../../platform/outbound-http.js';
import { readProtocolAccount } from '../protocol/index.js';
import type { ChainPlace } from './chain-checks.js';
import { check, ok, problem, warning, type Checked, type Finding } from './check.js';

const UNITS_PER_USDC = 1_000_000n;
const REFILL = "Sell USDC of the authority's key for SOL and leave it there, or raise USDC_FLOAT_LAMPORTS.";

/** Examines the money for calls that are paid for in USDC, and the price of SOL. */
export function checkTill(place: ChainPlace, usdc: UsdcConfig, databaseUrl: string): Promise<Checked> {
  return check('till', async () => {
    const chain = createChain(place.rpcUrls, place.programId);
    const owner = (await place.authorities())[0] ?? (await readProtocolAccount(chain))?.authority;
    if (!owner) throw new Error('the program is not initialised');
    return (await findPrice(usdc)) ?? findFloat({ chain, owner, place, usdc, databaseUrl });
  });
}

/** Undefined where there is a price. */
async function findPrice(usdc: UsdcConfig): Promise<Finding | undefined> {
  const outbound = createOutboundHttp(new Set(), { keepAlive: false });
  try {
    const rate = await composeRate(usdc, outbound, { warn: () => undefined })();
    return 'missing' in rate ? problem(rate.missing, 'Correct USDC_RATE_URL and its bounds.') : undefined;
  } finally {
    await outbound.close();
  }
}

async function findFloat({
  chain,
  owner,
  place,
  usdc,
  databaseUrl,
}: {
  chain: Chain;
  owner: PublicKey;
  place: ChainPlace;
  usdc: UsdcConfig;
  databaseUrl: string;
}): Promise<Finding> {
  const database = openDatabase(databaseUrl, () => undefined, 2);
  try {
    const payments = createPaymentRepository(database.db);
    const { floatLamports } = usdc;
    const { reserveLamports, network } = place;
    const mint = USDC_MINTS[network];
    const till = await readTill({ chain, payments, mint, floatLamports, reserveLamports }, owner);
    if (till.units === null) {
      return warning(`${owner.toBase58()} has no account for USDC`, 'The server makes it while it runs.');
    }
    const detail =
      `${owner.toBase58()} holds ${formatUnits(till.units)} USDC, and can give ${formatSol(till.floatLamports)} for USDC; ` +
      `at most ${formatSol(floatLamports)} in 24 hours`;
    if (till.floatLamports === 0n) return problem(`${detail}: calls in USDC are refused`, REFILL);
    return till.floatLamports < floatLamports / 10n ? warning(detail, REFILL) : ok(detail);
  } finally {
    // It may hang as the database does.
    void database.close().catch(() => undefined);
  }
}

const formatUnits = (units: bigint): string =>
  `${units / UNITS_PER_USDC}.${String(units % UNITS_PER_USDC).padStart(6, '0')}`;
