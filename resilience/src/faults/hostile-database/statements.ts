import { FaultMarket } from '../world/market.js';
import { playMatrix, rowName, type MatrixOptions, type MatrixReport } from '../world/row-matrix.js';

/**
 * A hostile database's answers to a statement:
 * - `cut`: the connection breaks before the statement.
 * - `cut_answer`: the connection breaks before the answer.
 * - `refuse`: the disk is full. The proxy answers a writing statement with 53100.
 */
const DATABASE_FAULTS = ['cut', 'cut_answer', 'refuse'] as const;

/** Breaks the connection at every statement of every scenario's run, and refuses every writing statement. */
export const runHostileStatements = (options: MatrixOptions): Promise<MatrixReport> =>
  FaultMarket.use((market) =>
    playMatrix(market, options, {
      rowsOf: ({ scenario, steps }, writes) =>
        steps
          .filter(({ at }) => at === 'database')
          .flatMap((step) =>
            DATABASE_FAULTS.filter((fate) => fate === 'cut' || writes(step)).map((fate) => ({
              name: rowName(scenario.name, fate, step),
              scenario,
              fault: { step, fate },
            })),
          ),
    }),
  );
