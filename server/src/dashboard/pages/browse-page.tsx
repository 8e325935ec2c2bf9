import {
  formatSol,
  CATEGORIES,
  lamportsFromSol,
  RENTAL_MODELS,
  SORT_ORDERS,
  type ListingPage,
  type ListingSummary,
  type searchListingsQuery,
  type SortOrder,
} from '@agent-rental/contract';
import type * as z from 'zod';
import { quotedTitle, Words } from './creator-words.js';
import { renderPage } from './page.js';
import { MODEL_WORDS } from './price.js';

/** A search, as its query in an address says it. */
export type BrowseQuery = z.output<typeof searchListingsQuery>;

const SORT_WORDS: Readonly<Record<SortOrder, string>> = {
  relevance: 'Best match',
  rating: 'Rating',
  price_asc: 'Price, low to high',
  price_desc: 'Price, high to low',
  newest: 'Newest',
};
const DESCRIPTION_CHARACTERS = 200;

/** The first page: a description of this service, and a search for agents by words and filters. */
export function browsePage(query: BrowseQuery, found: ListingPage, baseUrl: string): string {
  const head = {
    title: 'Agent Rental Marketplace',
    description: 'Rent AI agents with a transaction on Solana, and use them at once as tools.',
    url: `${baseUrl}/`,
  };
  return renderPage(
    head,
    <>
      <h1>Rent an agent, use it as a tool</h1>
      <p>
        Agents here are rented with one transaction on Solana and called at once: over MCP, from LangChain or
        the AI SDK, or with plain HTTP. Your agent finds out how at <a href="/AGENTS.md">AGENTS.md</a>.
      </p>
      <SearchForm query={query} />
      <h2>{countWords(found.total, query.q)}</h2>
      {found.did_you_mean === undefined ? null : (
        <p>
          Did you mean{' '}
          <a href={addressOf({ ...query, q: found.did_you_mean, offset: 0 })}>{found.did_you_mean}</a>?
        </p>
      )}
      <ul class="cards">
        {found.listings.map((listing) => (
          <Card key={listing.id} listing={listing} />
        ))}
      </ul>
      <Pages query={query} total={found.total} />
    </>,
  );
}

function SearchForm({ query }: { query: BrowseQuery }) {
  return (
    <form method="get" action="/" role="search">
      <label class="wide">
        Search
        <input type="search" name="q" maxLength={400} value={query.q ?? ''} />
      </label>
      <label>
        Category
        <select name="category">
          <option value="">All</option>
          {CATEGORIES.map((category) => (
            <option key={category} value={category} selected={query.category === category}>
              {category}
            </option>
          ))}
        </select>
      </label>
      <label>
        Paid
        <select name="rental_model">
          <option value="">Any rental model</option>
          {RENTAL_MODELS.map((model) => (
            <option key={model} value={model} selected={query.rental_model === model}>
              {MODEL_WORDS[model].split(',')[0]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Order
        <select name="sort">
          {SORT_ORDERS.map((sort) => (
            <option key={sort} value={sort} selected={query.sort === sort}>
              {SORT_WORDS[sort]}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Search</button>
    </form>
  );
}

function Card({ listing }: { listing: ListingSummary }) {
  const { id, title, description, rental_model: model, price_sol: price } = listing;
  return (
    <li class="card">
      <h2>
        <a href={`/dashboard/listings/${id}`}>
          <bdi>{quotedTitle(title)}</bdi>
        </a>
      </h2>
      <p>
        <strong>{formatSol(lamportsFromSol(price))}</strong> {MODEL_WORDS[model].split(',')[0]}
        {listing.free_trial === true ? ', first run free' : ''}
        {listing.free_trial === 'renters' ? ', first run free for renters' : ''}
      </p>
      {listing.failing_since === undefined ? null : <p class="note">Its own tests fail at the moment.</p>}
      <p>
        <Words text={description} characters={DESCRIPTION_CHARACTERS} />
      </p>
      <p class="soft">{trackRecord(listing)}</p>
    </li>
  );
}

/** The number of an agent's runs, their success rate, and the rating by its renters. */
export function trackRecord({
  run_count: runs,
  success_rate: rate,
  rating,
  review_count: reviews,
}: Pick<ListingSummary, 'run_count' | 'success_rate' | 'rating' | 'review_count'>): string {
  const ran = runs === 0 ? 'Not run yet' : `${runs} runs, ${Math.round(rate * 100)} % succeeded`;
  return reviews === 0 ? `${ran}.` : `${ran}; rated ${rating.toFixed(1)} of 5 by ${reviews}.`;
}

function Pages({ query, total }: { query: BrowseQuery; total: number }) {
  const { offset, limit } = query;
  const earlier = offset > 0 ? addressOf({ ...query, offset: Math.max(0, offset - limit) }) : undefined;
  const later = offset + limit < total ? addressOf({ ...query, offset: offset + limit }) : undefined;
  if (earlier === undefined && later === undefined) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {earlier === undefined ? null : (
        <a rel="prev" href={earlier}>
          Earlier
        </a>
      )}
      {later === undefined ? null : (
        <a rel="next" href={later}>
          More
        </a>
      )}
    </nav>
  );
}

function countWords(total: number, words: string | undefined): string {
  const agents = total === 1 ? '1 agent' : `${total} agents`;
  return words === undefined ? agents : `${agents} for your search`;
}

/** The address of a page of a search, without members at their default. */
function addressOf(query: BrowseQuery): string {
  const { limit: _, sort, offset, ...filters } = query;
  const named = Object.entries({
    ...filters,
    sort: sort === 'relevance' ? undefined : sort,
    offset: offset === 0 ? undefined : offset,
  }).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  const text = new URLSearchParams(named).toString();
  return text === '' ? '/' : `/?${text}`;
}
