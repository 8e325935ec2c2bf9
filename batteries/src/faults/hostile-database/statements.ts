import { FaultMarket } from '../world/market.js';
import { playMatrix, rowName, type MatrixOptions, type MatrixReport } from '../world/row-matrix.js';

/**
 * What a hostile database does with a statement: the connection breaks in its place, or in place of its answer, or the disk
 * is full (the proxy answers 53100 in place of the database, to statements that write).
 */
const DATABASE_FAULTS = ['cut', 'cut_answer', 'refuse'] as const;

/** Breaks the connection at every statement of every scenario's run, and refuses every one that writes. */
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
