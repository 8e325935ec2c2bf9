import { formatSol, lamportsFromSol, type ListingSummary } from '@agent-rental/contract';
import { titleLine, Words } from '../pages/creator-words.js';
import { PRICE_UNITS } from '../pages/price.js';
import { AgentIcon } from './agent-icon.js';
import { Icon } from './icon.js';
import { Rating } from './rating.js';

const DESCRIPTION_CHARACTERS = 180;

/** An agent in a list of agents. */
export function AgentCard({ listing }: { listing: ListingSummary }) {
  const { id, title, description, rental_model: model, price_sol: price, creator } = listing;
  return (
    <li class="card agent-card">
      <AgentIcon id={id} path={listing.icon_path} />
      <div>
        <h3>
          <a href={`/dashboard/listings/${id}`}>
            <bdi>{titleLine(title)}</bdi>
          </a>
        </h3>
        <p class="by">
          by <bdi>{titleLine(creator.display_name)}</bdi>
        </p>
      </div>
      <p class="line">
        <Words text={description} characters={DESCRIPTION_CHARACTERS} />
      </p>
      <div class="end">
        <Badges listing={listing} />
        <p class="sums">
          <span>
            <strong>{formatSol(lamportsFromSol(price))}</strong> {PRICE_UNITS[model]}
          </span>
          <Rating rating={listing.rating} review_count={listing.review_count} />
        </p>
        <p class="sums">
          <span>{runsOf(listing)}</span>
          <span>{successOf(listing)}</span>
          {listing.median_ms === undefined ? null : <span>usually {lengthOf(listing.median_ms)}</span>}
        </p>
      </div>
    </li>
  );
}

/** Short facts that help or warn a renter. */
export function Badges({ listing }: { listing: ListingSummary }) {
  const { free_trial: trial, failing_since: failing } = listing;
  const isFree = (trial ?? false) !== false;
  if (!isFree && failing === undefined) return null;
  return (
    <p class="badges">
      {isFree ? (
        <span class="badge good">
          <Icon name="gift" /> {trial === 'renters' ? 'First run free for renters' : 'First run free'}
        </span>
      ) : null}
      {failing === undefined ? null : (
        <span class="badge warn">
          <Icon name="triangle-alert" /> Fails its tests
        </span>
      )}
    </p>
  );
}

/** The number of an agent's runs. */
export const runsOf = ({ run_count: runs }: Pick<ListingSummary, 'run_count'>): string =>
  runs === 0 ? 'No runs yet' : runs === 1 ? '1 run' : `${runs.toLocaleString('en')} runs`;

/** A duration, to two digits. */
export function lengthOf(ms: number): string {
  if (ms >= 100_000) return `${Math.round(ms / 60_000)} min`;
  return ms >= 9_950 ? `${Math.round(ms / 1_000)} s` : `${(ms / 1_000).toFixed(ms < 100 ? 2 : 1)} s`;
}

/** The share of an agent's runs that succeeded; empty without a run. */
const successOf = ({
  run_count: runs,
  success_rate: rate,
}: Pick<ListingSummary, 'run_count' | 'success_rate'>): string =>
  runs === 0 ? '' : `${Math.round(rate * 100)} % succeeded`;
