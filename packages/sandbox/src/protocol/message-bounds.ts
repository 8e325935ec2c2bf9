import { JsonBounds } from '@agent-rental/agent-runner';
import { hasTurnTime, nextTurn } from './loop-turns.js';

/** The work on a longer line is spread over several iterations of the event loop. */
export const LARGE_LINE_CHARACTERS = 64 * 1024;

/** Checks `JsonBounds` of a line in slices. For a large line the result comes with a fresh budget, for the parser. */
export async function isWithinBounds(line: string): Promise<boolean> {
  const bounds = new JsonBounds();
  for (let from = 0; from < line.length; from += LARGE_LINE_CHARACTERS) {
    if (from > 0 && !hasTurnTime()) await nextTurn();
    if (!bounds.admits(line, from, Math.min(from + LARGE_LINE_CHARACTERS, line.length))) return false;
  }
  if (line.length > LARGE_LINE_CHARACTERS) await nextTurn({ needsWholeBudget: true });
  return true;
}
