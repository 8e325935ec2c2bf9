import type { Creator, ListingSummary } from '@agent-rental/contract';
import { AgentCard } from '../components/agent-card.js';
import { AgentIcon } from '../components/agent-icon.js';
import { titleLine } from './creator-words.js';
import { renderPage } from './page.js';

/** The content of a creator's public page. */
export interface ProfileContent {
  readonly creator: Creator;
  /** The newest agents on sale; at least one. */
  readonly listings: readonly ListingSummary[];
  readonly baseUrl: string;
}

/** The public page of a creator: its name, its figures and its agents. */
export function profilePage({ creator, listings, baseUrl }: ProfileContent): string {
  const name = titleLine(creator.display_name);
  const sum = (key: 'run_count' | 'review_count') => listings.reduce((total, one) => total + one[key], 0);
  const [runs, reviews] = [sum('run_count'), sum('review_count')];
  const stars = listings.reduce((total, one) => total + one.rating * one.review_count, 0);
  const figures = [
    [listings.length, listings.length === 1 ? 'Agent' : 'Agents'],
    [runs.toLocaleString('en'), runs === 1 ? 'Run' : 'Runs'],
    ...(reviews === 0 ? [] : [[(stars / reviews).toFixed(1), `Rating of ${reviews} reviews`]]),
  ];
  const head = {
    title: `${name} – Agent Rental Marketplace`,
    description: `The agents of the creator ${creator.id}.`,
    url: `${baseUrl}/creators/${creator.id}`,
  };
  return renderPage(
    head,
    <>
      <div class="agent-head">
        <AgentIcon id={creator.id} />
        <div>
          <h1>
            <bdi>{name}</bdi>
          </h1>
          <p class="soft">
            Wallet <code>{creator.id}</code>
          </p>
        </div>
      </div>
      <ul class="figures">
        {figures.map(([figure, words]) => (
          <li key={words}>
            <strong>{figure}</strong>
            <span>{words}</span>
          </li>
        ))}
      </ul>
      <h2>Agents</h2>
      <ul class="cards">
        {listings.map((listing) => (
          <AgentCard key={listing.id} listing={listing} />
        ))}
      </ul>
    </>,
  );
}
