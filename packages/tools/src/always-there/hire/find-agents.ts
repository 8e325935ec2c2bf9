import type { ListingSummary } from '@agent-rental/contract';
import type { CallOptions, RentalClient } from '@agent-rental/sdk';

/** Highest number of words of a task that are searched. */
const MAX_WORDS = 8;
const PAGE = 25;

/** Words that say nothing about an agent's abilities. */
const COMMON = new Set(
  (
    'a about after all also an and any are as at be been before but by can could do does find for from get give had ' +
    'has have help her here him his how i if in into is it its just list make me more most my need no not of on one ' +
    'or our out over please she should show so some such tell than that the their them then there these they this ' +
    'to up us use using want was we were what when where which who will with would you your'
  ).split(' '),
);

/** Agents for a task. */
interface FoundAgents {
  /** The most likely first. */
  readonly listings: readonly ListingSummary[];
  /** The words of the search. */
  readonly words: string;
}

/**
 * Finds agents for a task. A search requires every word, but a task is a sentence. So it searches the whole sentence first,
 * then each word. An agent's score is the sum of the words that find it. Rare words count more.
 *
 * @throws ApiError or ConnectionError
 */
export async function findAgents(
  client: RentalClient,
  task: string,
  query: string | undefined,
  call: CallOptions,
): Promise<FoundAgents> {
  const asked = (query ?? task).slice(0, 400);
  const whole = await client.searchListings({ q: asked, limit: PAGE }, call);
  if (whole.listings.length > 0) return { listings: whole.listings, words: asked };
  const words = wordsOf(asked);
  const pages = await Promise.all(words.map((q) => client.searchListings({ q, limit: PAGE }, call)));
  const scored = new Map<string, { listing: ListingSummary; score: number }>();
  for (const { listings, total } of pages) {
    listings.forEach((listing, rank) => {
      const known = scored.get(listing.id) ?? { listing, score: 0 };
      // The first result of a page counts a little more than the last.
      const score = known.score + 1 / Math.log2(total + 2) + 0.1 * (1 - rank / PAGE);
      scored.set(listing.id, { listing, score });
    });
  }
  const found = [...scored.values()].sort((first, second) => second.score - first.score);
  return { listings: found.map(({ listing }) => listing), words: words.join(' ') };
}

/** The words of a text that may describe the task, the longest first. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const telling = [...new Set(words)].filter((word) => !COMMON.has(word));
  return telling.sort((first, second) => second.length - first.length).slice(0, MAX_WORDS);
}
