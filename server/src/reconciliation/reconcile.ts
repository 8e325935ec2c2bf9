import type { Logger } from '../platform/logger.js';
import { compareCharges, type CompareChargesDeps } from './compare-charges.js';
import { compareIndex, type CompareIndexDeps } from './compare-index.js';
import { DIFFERENCES, type ReconciliationReport } from './differences.js';

/** Differences that a report lists of each sort; more of them are counted in the log alone. */
const MOST_LISTED = 10_000;

/** How much is compared, and whether differences are repaired. */
export interface ReconcileOptions {
  /** Reads the transactions of every balance, not only of balances with different sums. */
  everyTransaction?: boolean;
  /** Reports the repairs without making them. Only the index changes, which first catches up with the chain. */
  dryRun?: boolean;
  /** Is told now and then how far it is. */
  onProgress?: (progress: Pick<ReconciliationReport, 'accounts' | 'balances'>) => void;
  signal?: AbortSignal;
}

/**
 * Compares the database with the chain, both ways, and makes the safe repairs.
 *
 * @returns every difference: the repaired ones, and the ones for an operator
 * @throws ApiError `service_unavailable` when the chain cannot be reached; the signal's reason
 */
export async function reconcileWithChain(
  deps: CompareIndexDeps & CompareChargesDeps & { logger: Pick<Logger, 'warn' | 'error'> },
  { everyTransaction = false, dryRun = false, onProgress, signal }: ReconcileOptions = {},
): Promise<ReconciliationReport> {
  const report: ReconciliationReport = { accounts: 0, balances: 0, repaired: [], open: [] };
  const counted = (what: 'accounts' | 'balances') => (more: number) => {
    signal?.throwIfAborted();
    report[what] += more;
    onProgress?.(report);
  };
  const comparisons = [
    compareIndex(deps, counted('accounts')),
    compareCharges(deps, { everyTransaction, counted: counted('balances') }),
  ];
  for (const comparison of comparisons) {
    for await (const { repair, ...difference } of comparison) {
      signal?.throwIfAborted();
      const fields = { ...difference, lamports: difference.lamports?.toString() };
      if (repair && !dryRun) {
        await repair();
        deps.logger.warn(fields, `${DIFFERENCES[difference.kind].says}; repaired`);
      } else {
        deps.logger.error(fields, DIFFERENCES[difference.kind].says);
      }
      const list = repair && !dryRun ? report.repaired : report.open;
      if (list.length < MOST_LISTED) list.push(difference);
    }
  }
  return report;
}
