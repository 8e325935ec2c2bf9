import type { ListingSummary } from '@agent-rental/contract';

/** What a model is told of an agent that fails, in the marketplace's words; undefined for one that works. */
export function failingText({
  failing_since: since,
}: Pick<ListingSummary, 'failing_since'>): string | undefined {
  if (since === undefined) return undefined;
  return `It fails: the marketplace's own daily runs of it have failed since ${since.slice(0, 10)}.`;
}
