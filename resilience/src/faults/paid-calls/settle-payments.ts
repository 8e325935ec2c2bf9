import { until } from '@agent-rental/test/support/timing/until';
import type { FaultMarket } from '../world/market.js';

const SETTLE_MS = 600_000;

/** Advances the chain until no payment is open. */
export async function settlePayments(market: FaultMarket): Promise<void> {
  await until(
    async () => {
      await market.query('update payments set next_attempt_at = now() where not is_final');
      if ((await market.query('select from payments where not is_final limit 1')).length === 0) return true;
      await market.finalize();
      return false;
    },
    SETTLE_MS,
    2_500,
  );
}
