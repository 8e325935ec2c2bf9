import {
  CATEGORIES,
  RENTAL_MODELS,
  SORT_ORDERS,
  type Category,
  type ListingPage,
  type searchListingsQuery,
  type SortOrder,
} from '@agent-rental/contract';
import type * as z from 'zod';
import { AgentCard } from '../components/agent-card.js';
import { Icon, type IconName } from '../components/icon.js';
import { renderPage } from './page.js';
import { MODEL_NAMES } from './price.js';

/** A search, as its query in an address says it. */
export type BrowseQuery = z.output<typeof searchListingsQuery>;

/** The content of the first page. */
export interface BrowseContent {
  readonly query: BrowseQuery;
  readonly found: ListingPage;
  /** How many agents each category has. */
  readonly counts: ReadonlyMap<Category, number>;
  readonly baseUrl: string;
}

const SORT_WORDS: Readonly<Record<SortOrder, string>> = {
  relevance: 'Best match',
  rating: 'Rating',
  price_asc: 'Price, low to high',
  price_desc: 'Price, high to low',
  newest: 'Newest',
};
const CATEGORY_ICONS: Readonly<Record<Category, IconName>> = {
  finance: 'coins',
  legal: 'scale',
  coding: 'code',
  research: 'flask-conical',
  sales: 'handshake',
  content: 'pen-line',
};
const RATINGS = [4.5, 4, 3];

/** The order of a page whose address names none: by rating, unless words are searched for. */
export const usualSort = (words: unknown): SortOrder => (words === undefined ? 'rating' : 'relevance');

/** The first page: one sentence about this service, and a search for agents by words and filters. */
export function browsePage({ query, found, counts, baseUrl }: BrowseContent): string {
  const head = {
    title: query.q === undefined ? 'Agent Rental Marketplace' : `${query.q} – Agent Rental Marketplace`,
    description: 'Rent AI agents with a transaction on Solana, and use them at once as tools.',
    url: `${baseUrl}/`,
  };
  return renderPage(
    head,
    <>
      <div class="hero">
        <h1>Rent an agent, use it as a tool</h1>
        <p>
          Pay with one transaction on Solana. Call the agent at once over MCP, from LangChain or the AI SDK,
          or with plain HTTP.
        </p>
        <form method="get" action="/" role="search">
          <label class="wide">
            <span class="unseen">Search agents</span>
            <input
              type="search"
              name="q"
              maxLength={400}
              value={query.q ?? ''}
              placeholder="What should the agent do?"
            />
          </label>
          <button type="submit">
            <Icon name="search" /> Search
          </button>
        </form>
      </div>
      <CategoryTiles query={query} counts={counts} />
      <Filters query={query} />
      <div class="results">
        <h2>{countWords(found.total, query.q)}</h2>
        {isFiltered(query) ? <a href="/">Clear the search</a> : null}
      </div>
      <Suggestion query={query} found={found} />
      {found.listings.length === 0 ? <NothingFound query={query} /> : null}
      <ul class="cards">
        {found.listings.map((listing) => (
          <AgentCard key={listing.id} listing={listing} />
        ))}
      </ul>
      <Pages query={query} total={found.total} />
    </>,
  );
}

function CategoryTiles({ query, counts }: Pick<BrowseContent, 'query' | 'counts'>) {
  return (
    <nav aria-label="Categories">
      <ul class="tiles">
        <li>
          <a
            href={addressOf({ ...query, category: undefined, offset: 0 })}
            aria-current={query.category === undefined ? 'true' : undefined}
          >
            All
          </a>
        </li>
        {CATEGORIES.map((category) => (
          <li key={category}>
            <a
              href={addressOf({ ...query, category, offset: 0 })}
              aria-current={query.category === category ? 'true' : undefined}
            >
              <Icon name={CATEGORY_ICONS[category]} /> {capitalized(category)}{' '}
              <span>{counts.get(category) ?? 0}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Filters({ query }: { query: BrowseQuery }) {
  return (
    <form method="get" action="/" class="filters" aria-label="Filters">
      {query.q === undefined ? null : <input type="hidden" name="q" value={query.q} />}
      {query.category === undefined ? null : <input type="hidden" name="category" value={query.category} />}
      <label>
        Rental model
        <select name="rental_model">
          <option value="">Any</option>
          {RENTAL_MODELS.map((model) => (
            <option key={model} value={model} selected={query.rental_model === model}>
              {MODEL_NAMES[model]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Rating
        <select name="min_rating">
          <option value="">Any</option>
          {RATINGS.map((rating) => (
            <option key={rating} value={rating} selected={query.min_rating === rating}>
              {rating} and more
            </option>
          ))}
        </select>
      </label>
      <label>
        Price from, SOL
        <input name="min_price" inputMode="decimal" autocomplete="off" value={query.min_price ?? ''} />
      </label>
      <label>
        Price to, SOL
        <input name="max_price" inputMode="decimal" autocomplete="off" value={query.max_price ?? ''} />
      </label>
      <label>
        Sort by
        <select name="sort">
          {SORT_ORDERS.filter((sort) => sort !== 'relevance' || query.q !== undefined).map((sort) => (
            <option key={sort} value={sort} selected={query.sort === sort}>
              {SORT_WORDS[sort]}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" class="plain">
        Apply
      </button>
    </form>
  );
}

function Suggestion({ query, found }: Pick<BrowseContent, 'query' | 'found'>) {
  if (found.did_you_mean === undefined) return null;
  return (
    <p>
      Did you mean{' '}
      <a href={addressOf({ ...query, q: found.did_you_mean, offset: 0 })}>{found.did_you_mean}</a>?
    </p>
  );
}

function NothingFound({ query }: { query: BrowseQuery }) {
  const withoutFilters = addressOf({ sort: usualSort(query.q), limit: query.limit, offset: 0, q: query.q });
  return (
    <div class="empty">
      <p>{query.offset > 0 ? 'This page is after the last agent.' : 'No agent matches this search.'}</p>
      <p class="links">
        {query.q === undefined ? null : <a href={withoutFilters}>Search without filters</a>}
        <a href="/">See all agents</a>
        <a href="/dashboard/creator/publish">Publish such an agent</a>
      </p>
    </div>
  );
}

function Pages({ query, total }: { query: BrowseQuery; total: number }) {
  const { offset, limit } = query;
  const earlier = offset > 0 ? addressOf({ ...query, offset: Math.max(0, offset - limit) }) : undefined;
  const later = offset + limit < total ? addressOf({ ...query, offset: offset + limit }) : undefined;
  if (earlier === undefined && later === undefined) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {earlier === undefined ? null : (
        <a class="button plain" rel="prev" href={earlier}>
          Previous
        </a>
      )}
      {later === undefined ? null : (
        <a class="button plain" rel="next" href={later}>
          Next
        </a>
      )}
    </nav>
  );
}

function countWords(total: number, words: string | undefined): string {
  const agents = total === 1 ? '1 agent' : `${total.toLocaleString('en')} agents`;
  return words === undefined ? agents : `${agents} for your search`;
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const isFiltered = (query: BrowseQuery): boolean => addressOf({ ...query, offset: 0 }) !== '/';

/** The address of a page of a search, without members at their default. */
function addressOf(query: BrowseQuery): string {
  const { limit: _, sort, offset, ...filters } = query;
  const named = Object.entries({
    ...filters,
    sort: sort === usualSort(query.q) ? undefined : sort,
    offset: offset === 0 ? undefined : offset,
  }).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  const text = new URLSearchParams(named).toString();
  return text === '' ? '/' : `/?${text}`;
}
