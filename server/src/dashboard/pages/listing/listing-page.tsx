import {
  formatSol,
  PREVIEW_PICTURE_PATH,
  type Json,
  type Listing,
  type PublicVersion,
  type ReviewPage,
} from '@agent-rental/contract';
import { lengthOf, runsOf } from '../../components/agent-card.js';
import { AgentIcon } from '../../components/agent-icon.js';
import { Rating } from '../../components/rating.js';
import type { RentalCosts } from '../../../transactions/index.js';
import { titleLine, Words } from '../creator-words.js';
import { renderPage, type PageChain } from '../page.js';
import { PAGE_SCRIPT_URL } from '../page-script.js';
import { MODEL_WORDS } from '../price.js';
import { TrySection } from '../renter/try-section.js';
import { InputTable } from './input-table.js';
import { Offer } from './offer.js';
import { ReportSection } from './report-section.js';
import { ReviewSection } from './review-section.js';
import { Reviews } from './reviews.js';
import { Sample } from './sample.js';
import { Versions } from './versions.js';
import { UseSection } from './use-section.js';

const DESCRIPTION_CHARACTERS = 4_000;

/** The content of a listing's page. */
export interface ListingPageContent {
  readonly listing: Listing;
  /** The latest ones. */
  readonly versions: readonly PublicVersion[];
  /** Safe HTML of its README. */
  readonly readmeHtml?: string | undefined;
  /** The newest ones. */
  readonly reviews: ReviewPage;
  /** The costs of a rental beside its price; undefined while the chain cannot be asked. */
  readonly costs: RentalCosts | undefined;
  /** An input that the agent takes; undefined where none was found. */
  readonly sampleInput: Json | undefined;
  /** Whether a new wallet of the page may have a free first run. */
  readonly offersGuest: boolean;
  readonly baseUrl: string;
  /** The network, as wallets name it. */
  readonly chain: PageChain;
  /** Of the response: the page's script carries it. */
  readonly nonce: string;
}

/** The sections of the page, in their order. */
const SECTIONS = [
  ['overview', 'Overview'],
  ['input', 'Input'],
  ['use', 'Use it'],
  ['reviews', 'Reviews'],
  ['versions', 'Versions'],
  ['details', 'Details'],
] as const;

/** The page of a listing: its price, track record, inputs, outputs and use. */
export function listingPage(content: ListingPageContent): string {
  const { listing, reviews, costs, baseUrl, chain, nonce } = content;
  const { id, title, description, status } = listing;
  const head = {
    title: `${titleLine(title)} – Agent Rental Marketplace`,
    description: `Rent ${id} for ${formatSol(listing.price_lamports)}, ${MODEL_WORDS[listing.rental_model]}.`,
    url: `${baseUrl}/dashboard/listings/${id}`,
    picture: baseUrl + PREVIEW_PICTURE_PATH.replace(':listing_id', id),
    script: { source: PAGE_SCRIPT_URL, nonce },
  };
  return renderPage(
    head,
    <div class="two">
      <div class="head">
        <Head listing={listing} />
        <Notes listing={listing} />
      </div>
      <Offer listing={listing} costs={costs} />
      <div class="body">
        <nav class="sections" aria-label="On this page">
          {SECTIONS.map(([section, name]) => (
            <a key={section} href={`#${section}`}>
              {name}
            </a>
          ))}
        </nav>
        <h2 id="overview">Overview</h2>
        <p>
          <Words text={description} characters={DESCRIPTION_CHARACTERS} />
        </p>
        {content.readmeHtml === undefined ? null : (
          <div class="readme" dir="auto" dangerouslySetInnerHTML={{ __html: content.readmeHtml }} />
        )}
        <h3>{listing.sample_output.length > 1 ? 'Sample outputs' : 'Sample output'}</h3>
        {listing.sample_output.map((sample, index) => (
          <Sample key={index} text={sample} number={index + 1} />
        ))}
        {status === 'suspended' ? null : (
          <TrySection
            listing={listing}
            chain={chain}
            sampleInput={content.sampleInput}
            offersGuest={content.offersGuest}
          />
        )}
        <h2 id="input">Input</h2>
        <InputTable schema={listing.input_schema} />
        <h2 id="use">Use it</h2>
        <UseSection id={id} baseUrl={baseUrl} sampleInput={content.sampleInput} />
        <h2 id="reviews">Reviews</h2>
        <Reviews page={reviews} />
        {status === 'closed' ? null : <ReviewSection listingId={id} chain={chain} />}
        <ReportSection listingId={id} chain={chain} />
        <h2 id="versions">Versions</h2>
        <Versions versions={content.versions} />
        <h2 id="details">Details</h2>
        <Details listing={listing} />
      </div>
    </div>,
  );
}

function Head({ listing }: { listing: Listing }) {
  const { id, title, creator, run_count: runs, success_rate: rate } = listing;
  return (
    <>
      <div class="agent-head">
        <AgentIcon id={id} path={listing.icon_path} />
        <div>
          <h1>
            <bdi>{titleLine(title)}</bdi>
          </h1>
          <p class="soft">
            by{' '}
            <a href={`/creators/${creator.id}`}>
              <bdi>{titleLine(creator.display_name)}</bdi>
            </a>{' '}
            in {listing.category.join(', ')}
          </p>
        </div>
      </div>
      <ul class="figures">
        <li>
          <strong>
            {listing.review_count === 0 ? (
              'New'
            ) : (
              <Rating rating={listing.rating} review_count={listing.review_count} />
            )}
          </strong>
          <span>{listing.review_count === 0 ? 'No reviews yet' : 'Rating'}</span>
        </li>
        <li>
          <strong>{runsOf({ run_count: runs })}</strong>
          <span>By all renters</span>
        </li>
        {runs === 0 ? null : (
          <li>
            <strong>{Math.round(rate * 100)} %</strong>
            <span>Success rate</span>
          </li>
        )}
        {listing.median_ms === undefined ? null : (
          <li>
            <strong>{lengthOf(listing.median_ms)}</strong>
            <span>Half of the runs take less</span>
          </li>
        )}
      </ul>
    </>
  );
}

function Notes({ listing }: { listing: Listing }) {
  return (
    <>
      {listing.status === 'suspended' ? <Suspension reason={listing.suspension_reason} /> : null}
      {listing.failing_since === undefined ? null : (
        <p class="note">The marketplace’s tests of it fail since {dayOf(listing.failing_since)}.</p>
      )}
      {listing.unverified_since === undefined ? null : (
        <p class="note">
          The marketplace has not reached it yet: its creator published it so on{' '}
          {dayOf(listing.unverified_since)}.
        </p>
      )}
    </>
  );
}

/** The operator's decision, and the way to a prepaid balance. */
function Suspension({ reason }: { reason: string | undefined }) {
  return (
    <p class="note" role="alert">
      The operator of the marketplace has suspended this agent: it cannot be run or rented.
      {reason === undefined ? null : (
        <>
          {' '}
          Reason: <Words text={reason} characters={1_000} />
        </>
      )}{' '}
      A prepaid balance comes back at once, by <code>agent-rental reclaim</code>.
    </p>
  );
}

function Details({ listing }: { listing: Listing }) {
  return (
    <dl class="facts">
      <dt>Agent id</dt>
      <dd>
        <code>{listing.id}</code>
      </dd>
      <dt>Health</dt>
      <dd>{healthWords(listing)}</dd>
      <dt>Version</dt>
      <dd>
        {listing.version ?? 1}, changed on {dayOf(listing.last_updated)}
      </dd>
      <dt>Creator</dt>
      <dd>
        <code>{listing.creator.id}</code>
      </dd>
      <dt>Account on Solana</dt>
      <dd>
        <code>{listing.on_chain_address}</code>
      </dd>
    </dl>
  );
}

/** Runs from which the success rate says something about an agent's health. */
const ENOUGH_RUNS = 5;

/** The health of an agent: the marketplace's tests, and what renters see. */
function healthWords(listing: Listing): string {
  const {
    failing_since: failing,
    unverified_since: unverified,
    run_count: runs,
    success_rate: rate,
  } = listing;
  if (failing !== undefined) return `Fails the marketplace’s tests since ${dayOf(failing)}`;
  if (unverified !== undefined) return 'Not reached yet';
  if (runs >= ENOUGH_RUNS && rate < 0.5) return `Most runs fail: ${Math.round(rate * 100)} % succeed`;
  return 'Passes the marketplace’s tests';
}

const dayOf = (timestamp: string): string => timestamp.slice(0, 10);
