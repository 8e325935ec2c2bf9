import type { ListingSummary } from '@agent-rental/contract';

/** The marketplace's words to a model about an agent that fails; undefined for one that works. */
export function failingText({
  failing_since: since,
}: Pick<ListingSummary, 'failing_since'>): string | undefined {
  if (since === undefined) return undefined;
  return `It fails: the marketplace's own daily runs of it have failed since ${since.slice(0, 10)}.`;
}
