import type { PlannedFault } from '../world/lanes.js';
import { FaultMarket } from '../world/market.js';
import type { Recording } from '../world/record.js';
import { playMatrix, rowName, type MatrixOptions, type MatrixReport, type Row } from '../world/row-matrix.js';

/** The moment of a kill: before the step is passed on, before the server gets the answer, or after it. */
const MOMENTS = { before: 'hold', after: 'hold_answer', answered: 'hold_next' } as const;
type Moment = keyof typeof MOMENTS;

/** The rows of a recording. A step that only reads has one row, because it changes no state. */
export function killsOf(
  { scenario, steps }: Recording,
  writes: (step: PlannedFault['step']) => boolean,
  ofWrites: readonly Moment[] = ['before', 'after', 'answered'],
): Row[] {
  return steps.flatMap((step) => {
    const moments: readonly Moment[] = writes(step) ? ofWrites : ['before'];
    return moments.map((moment) => {
      const fault = { step, fate: MOMENTS[moment] };
      return { name: rowName(scenario.name, moment, step), scenario, fault };
    });
  });
}

/** Kills the server at every step of every scenario's run, and checks the money after the next start. */
export const runCrashMatrix = (options: MatrixOptions): Promise<MatrixReport> =>
  FaultMarket.use((market) =>
    playMatrix(market, options, {
      rowsOf: killsOf,
      interrupt: () => market.kill(),
      restart: () => market.start(),
    }),
  );
