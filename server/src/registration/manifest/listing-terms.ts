import { createHash } from 'node:crypto';
import {
  priceViolations,
  publishedSecrets,
  type ListingChanges,
  type ListingTerms,
  RENTAL_TERMS,
} from '@agent-rental/contract';
import type { Insertable } from 'kysely';
import type { Database } from '../../database/schema.js';
import type { DraftRow } from '../drafts/draft-row.js';
import type { RegistrationRules, Violation } from './validate.js';

/** The stored texts and terms of a listing. */
export type ListingColumns = Partial<
  Pick<
    Insertable<Database['listings']>,
    | 'title'
    | 'rental_model'
    | 'price_lamports'
    | 'min_deposit_lamports'
    | 'runs_per_minute'
    | 'sample_input'
    | 'sample_output'
    | 'sample_problem'
    | 'health_checks'
    | 'free_trial'
    | 'readme'
    | 'icon'
    | 'icon_sha256'
  >
>;

type Terms = Pick<ListingTerms, 'rental_model' | 'price_lamports' | 'min_deposit_lamports'>;

/** Members that only the chain can change, once a listing is published. */
const ON_CHAIN = {
  rental_model: 'never changes once a listing is published',
  price_lamports: 'of a published listing is changed on-chain: POST /v1/transactions, action update',
  min_deposit_lamports: 'of a published listing is changed on-chain: POST /v1/transactions, action update',
} as const satisfies Partial<Record<keyof ListingChanges, string>>;

/** The violations in changes of a listing, beyond their form. */
export function listingViolations(
  changes: ListingChanges,
  present: DraftRow,
  rules: Pick<RegistrationRules, 'minQueryPriceLamports'>,
): Violation[] {
  return [...publishedSecrets({}, changes), ...changedTermViolations(changes, present, rules)];
}

function changedTermViolations(
  changes: ListingChanges,
  present: DraftRow,
  rules: Pick<RegistrationRules, 'minQueryPriceLamports'>,
): Violation[] {
  if (present.status !== 'draft') {
    return Object.entries(ON_CHAIN)
      .filter(([member]) => changes[member as keyof typeof ON_CHAIN] !== undefined)
      .map(([member, message]) => ({ path: `listing.${member}`, message }));
  }
  if (!changesTerms(changes)) return [];
  const terms = termsAfter(changes, present);
  if (terms) return priceViolations(terms, Number(rules.minQueryPriceLamports));
  const missing = (['rental_model', 'price_lamports'] as const).filter(
    (member) => changes[member] === undefined && present[member] === null,
  );
  return missing.map((member) => ({
    path: `listing.${member}`,
    message: 'is required: it was not given yet',
  }));
}

/** The columns that changes of a listing set, valid ones; `present` is absent in a registration. */
export function listingColumns(changes: ListingChanges, present?: DraftRow): ListingColumns {
  const { title, runs_per_minute: runs, sample_input: input, sample_output: output } = changes;
  const terms = changesTerms(changes) ? termsAfter(changes, present) : undefined;
  return {
    ...(title === undefined ? {} : { title }),
    ...(runs === undefined ? {} : { runs_per_minute: runs }),
    ...(input === undefined ? {} : { sample_input: JSON.stringify(input) }),
    ...(output === undefined ? {} : { sample_output: JSON.stringify(output), sample_problem: null }),
    ...(changes.health_checks === undefined ? {} : { health_checks: changes.health_checks }),
    ...(changes.free_trial === undefined ? {} : { free_trial: storedTrial(changes.free_trial) }),
    ...(changes.readme === undefined ? {} : { readme: changes.readme?.trim() || null }),
    ...(changes.icon === undefined ? {} : iconColumns(changes.icon)),
    ...(terms ? termColumns(terms) : {}),
  };
}

function iconColumns(icon: string | null): Pick<ListingColumns, 'icon' | 'icon_sha256'> {
  if (icon === null) return { icon: null, icon_sha256: null };
  const bytes = Buffer.from(icon, 'base64');
  return { icon: bytes, icon_sha256: createHash('sha256').update(bytes).digest('hex') };
}

const storedTrial = (offer: boolean | 'renters') =>
  offer === 'renters' ? offer : offer ? ('anyone' as const) : null;

const changesTerms = (changes: ListingChanges) =>
  Object.keys(ON_CHAIN).some((member) => changes[member as keyof typeof ON_CHAIN] !== undefined);

/** The terms of a listing after its change; undefined while model or price are not known. */
function termsAfter(changes: ListingChanges, present: DraftRow | undefined): Terms | undefined {
  const model = changes.rental_model ?? present?.rental_model ?? undefined;
  const price = changes.price_lamports ?? numberOf(present?.price_lamports);
  if (model === undefined || price === undefined) return undefined;
  // A deposit that equals the price follows it. A new model with its price replaces the deposit, too. Otherwise it stays.
  const isFollowing =
    present?.min_deposit_lamports === present?.price_lamports ||
    (changes.rental_model !== undefined && changes.price_lamports !== undefined) ||
    present?.rental_model !== model;
  const kept = isFollowing ? undefined : numberOf(present?.min_deposit_lamports);
  const deposit = changes.min_deposit_lamports ?? kept;
  return {
    rental_model: model,
    price_lamports: price,
    ...(deposit === undefined ? {} : { min_deposit_lamports: deposit }),
  };
}

const numberOf = (lamports: bigint | null | undefined) =>
  lamports === null || lamports === undefined ? undefined : Number(lamports);

function termColumns(terms: Terms) {
  const price = BigInt(terms.price_lamports);
  const deposit = terms.min_deposit_lamports === undefined ? price : BigInt(terms.min_deposit_lamports);
  return {
    rental_model: terms.rental_model,
    price_lamports: price,
    min_deposit_lamports: RENTAL_TERMS[terms.rental_model].isPrepaid ? deposit : 0n,
  };
}
