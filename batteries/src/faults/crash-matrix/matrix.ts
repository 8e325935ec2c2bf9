import type { PlannedFault } from '../world/lanes.js';
import { FaultMarket } from '../world/market.js';
import type { Recording } from '../world/record.js';
import { playMatrix, rowName, type MatrixOptions, type MatrixReport, type Row } from '../world/row-matrix.js';

/** Where a server is killed: at a step that is not handed on, one whose answer it does not get, and one whose answer it got. */
const MOMENTS = { before: 'hold', after: 'hold_answer', answered: 'hold_next' } as const;
type Moment = keyof typeof MOMENTS;

/** The rows of a recording. A read has one: nothing is there before it that was not there after the step before. */
export function killsOf(
  { scenario, steps }: Recording,
  writes: (step: PlannedFault['step']) => boolean,
  ofWrites: readonly Moment[] = ['before', 'after', 'answered'],
): Row[] {
  return steps.flatMap((step) => {
    const moments: readonly Moment[] = writes(step) ? ofWrites : ['before'];
    return moments.map((moment) => ({
      name: rowName(scenario.name, moment, step),
      scenario,
      fault: { step, fate: MOMENTS[moment] },
    }));
  });
}

/** Kills the server at every step of every scenario's run, and shows that the money is right after the next start. */
export const runCrashMatrix = (options: MatrixOptions): Promise<MatrixReport> =>
  FaultMarket.use((market) =>
    playMatrix(market, options, {
      rowsOf: killsOf,
      interrupt: () => market.kill(),
      restart: () => market.start(),
    }),
  );
