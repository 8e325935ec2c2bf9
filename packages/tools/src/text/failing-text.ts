import type { ListingSummary } from '@agent-rental/contract';

/** The marketplace's warning about a failing agent; undefined for a working one. */
export function failingText({
  failing_since: since,
}: Pick<ListingSummary, 'failing_since'>): string | undefined {
  if (since === undefined) return undefined;
  return `It fails: the marketplace's own daily runs of it have failed since ${since.slice(0, 10)}.`;
}
