import {
  formatSol,
  PAID_RUNS_COUNTED,
  RENTAL_TERMS,
  type Listing,
  type Review,
} from '@agent-rental/contract';
import type { RentalCosts } from '../../transactions/index.js';
import { quotedTitle, Words } from './creator-words.js';
import { renderPage } from './page.js';
import { ReviewSection } from './review-section.js';
import { trackRecord } from './browse-page.js';
import { PAGE_SCRIPT_URL } from './page-script.js';
import { MODEL_WORDS } from './price.js';
import { Costs } from './costs.js';
import { TrySection } from './renter/try-section.js';

const DESCRIPTION_CHARACTERS = 4_000;
const SAMPLE_CHARACTERS = 4_000;
const REVIEW_CHARACTERS = 1_000;
const FIELD_CHARACTERS = 300;
const SCHEMA_CHARACTERS = 20_000;
/** Fields of an input in the table; the schema beside it has all. */
const MOST_FIELDS = 40;

/** The content of a listing's page. */
export interface ListingPageContent {
  readonly listing: Listing;
  readonly reviews: readonly Review[];
  /** The costs of a rental beside its price; undefined while the chain cannot be asked. */
  readonly costs: RentalCosts | undefined;
  readonly baseUrl: string;
  /** The network, as wallets name it. */
  readonly chain: string;
  /** Of the response: the page's script carries it. */
  readonly nonce: string;
}

/** The page of a listing: its price, track record, inputs, outputs and use. */
export function listingPage(content: ListingPageContent): string {
  const { listing, reviews, costs, baseUrl, chain, nonce } = content;
  const { id, title, description, status } = listing;
  const head = {
    title: `${quotedTitle(title)}, an agent for rent`,
    description: `Rent ${id} for ${formatSol(listing.price_lamports)}, ${MODEL_WORDS[listing.rental_model]}.`,
    url: `${baseUrl}/dashboard/listings/${id}`,
    script: { source: PAGE_SCRIPT_URL, nonce },
  };
  return renderPage(
    head,
    <>
      <h1>
        <bdi>{quotedTitle(title)}</bdi>
      </h1>
      <Notes listing={listing} />
      <Facts listing={listing} />
      {status === 'active' ? (
        <>
          <Costs
            model={listing.rental_model}
            priceLamports={BigInt(listing.price_lamports)}
            minDepositLamports={BigInt(listing.min_deposit_lamports)}
            costs={costs}
          />
          <p>
            <a class="button" href={`/dashboard/rent/${id}`}>
              Rent this agent
            </a>
          </p>
        </>
      ) : null}
      <h2>In its creator’s words</h2>
      <blockquote>
        <Words text={description} characters={DESCRIPTION_CHARACTERS} />
      </blockquote>
      <h2>Input</h2>
      <Fields schema={listing.input_schema} />
      <TrySection listing={listing} chain={chain} />
      <h2>{listing.sample_output.length > 1 ? 'Sample outputs' : 'Sample output'}</h2>
      {listing.sample_output.map((sample, index) => (
        <pre key={index} tabIndex={0} aria-label={`Sample ${index + 1}`}>
          <Words text={sample} characters={SAMPLE_CHARACTERS} />
        </pre>
      ))}
      <h2>Reviews</h2>
      {reviews.length === 0 ? <p>No renter has reviewed it yet.</p> : null}
      {reviews.map((review) => (
        <blockquote key={review.reviewer}>
          <p>
            Rated {review.rating} of 5. {paidRunsText(review)}
          </p>
          {review.comment ? <Words text={review.comment} characters={REVIEW_CHARACTERS} /> : null}
        </blockquote>
      ))}
      {status === 'closed' ? null : <ReviewSection listingId={id} chain={chain} />}
    </>,
  );
}

function Notes({ listing }: { listing: Listing }) {
  return (
    <>
      {listing.status === 'active' ? null : (
        <p class="note">It is {listing.status}: it cannot be rented now.</p>
      )}
      {listing.failing_since === undefined ? null : (
        <p class="note">The marketplace’s own runs of it fail since {dayOf(listing.failing_since)}.</p>
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

function Facts({ listing }: { listing: Listing }) {
  const { rental_model: model, min_deposit_lamports: deposit, creator } = listing;
  return (
    <dl class="facts">
      <dt>Price</dt>
      <dd>
        <strong>{formatSol(listing.price_lamports)}</strong>, {MODEL_WORDS[model]}
      </dd>
      {RENTAL_TERMS[model].isPrepaid ? (
        <>
          <dt>First deposit</dt>
          <dd>at least {formatSol(deposit)}</dd>
        </>
      ) : null}
      {(listing.free_trial ?? false) === false ? null : (
        <>
          <dt>Trial</dt>
          <dd>
            the first run of a wallet is free
            {listing.free_trial === 'renters' ? ', if it has rented an agent of another creator' : ''}
          </dd>
        </>
      )}
      <dt>Health</dt>
      <dd>{healthWords(listing)}</dd>
      <dt>Record</dt>
      <dd>{trackRecord(listing)}</dd>
      <dt>Category</dt>
      <dd>{listing.category.join(', ')}</dd>
      <dt>Version</dt>
      <dd>
        {listing.version ?? 1}, changed on {dayOf(listing.last_updated)}
      </dd>
      <dt>Creator</dt>
      <dd>
        <bdi>{quotedTitle(creator.display_name)}</bdi>, wallet <code>{creator.id}</code>
      </dd>
      <dt>Agent id</dt>
      <dd>
        <code>{listing.id}</code>
      </dd>
    </dl>
  );
}

/** The results of the marketplace's own tests of the agent. */
function healthWords({ failing_since: failing, unverified_since: unverified }: Listing): string {
  if (failing !== undefined) return `fails its own tests since ${dayOf(failing)}`;
  return unverified === undefined ? 'no fault is known' : 'not reached yet';
}

/** The fields of an input in a list, and the whole schema as it is. */
function Fields({ schema }: { schema: Listing['input_schema'] }) {
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : [];
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  return (
    <>
      <dl class="facts">
        {properties.slice(0, MOST_FIELDS).map(([name, field]) => (
          <Field key={name} name={name} field={field} isRequired={required.has(name)} />
        ))}
      </dl>
      <details>
        <summary>The whole JSON Schema</summary>
        <pre tabIndex={0} aria-label="JSON Schema of the input">
          <Words text={JSON.stringify(schema, null, 2)} characters={SCHEMA_CHARACTERS} />
        </pre>
      </details>
    </>
  );
}

function Field({ name, field, isRequired }: { name: string; field: unknown; isRequired: boolean }) {
  const { type, description } = isRecord(field) ? field : {};
  return (
    <>
      <dt>
        <code>
          <Words text={name} characters={FIELD_CHARACTERS} />
        </code>
      </dt>
      <dd>
        {typeof type === 'string' ? `${type.slice(0, 20)}, ` : ''}
        {isRequired ? 'required' : 'optional'}
        {typeof description === 'string' ? (
          <>
            : <Words text={description} characters={FIELD_CHARACTERS} />
          </>
        ) : null}
      </dd>
    </>
  );
}

function paidRunsText({ paid_runs: runs = 0 }: Review): string {
  if (runs === 1) return '1 paid run.';
  return runs < PAID_RUNS_COUNTED ? `${runs} paid runs.` : `${PAID_RUNS_COUNTED} or more paid runs.`;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const dayOf = (timestamp: string): string => timestamp.slice(0, 10);
