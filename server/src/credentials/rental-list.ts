import {
  COUNTED_FOR_TOTAL,
  CURRENT_AFTER_HOURS,
  RENTAL_MODELS,
  RENTAL_TERMS,
  type CredentialStatus,
  type RentalModel,
} from '@agent-rental/contract';
import { CompiledQuery } from 'kysely';
import type { Owner } from '../access/owner.js';
import type { Db } from '../database/connection.js';
import {
  microsecondsOf,
  timeOfMicroseconds,
  type ListCount,
  type ListRange,
  type ShownPart,
} from '../database/keyset.js';
import { prepare } from '../database/prepared-statements.js';

/** Which of a wallet's rentals are listed; `undefined`: all. */
export type RentalFilter = CredentialStatus | 'current' | undefined;

/** A rental as the list shows it. */
export interface ListedRental {
  address: string;
  listing_id: string;
  listing_title: string;
  icon_sha256: string | null;
  rental_model: RentalModel;
  status: CredentialStatus;
  purchased_at: Date;
  purchased_at_us: bigint;
  expires_at: Date | null;
  balance_lamports: bigint | null;
  /** The listing had another version before the one that runs now. */
  has_earlier_version: boolean;
}

/**
 * The conditions, as SQL, by which a rental of each model is unusable while its listing is there and it was not revoked. This and the two
 * conditions below it say for pages and counts what `accessStatus` says of one rental; `rental-list.test.ts` compares them.
 */
const UNUSABLE: Record<
  RentalModel,
  { when: string; status: Exclude<CredentialStatus, 'active' | 'suspended'> } | undefined
> = {
  one_time: undefined,
  subscription: { when: '(credentials.expires_at > $2) is not true', status: 'expired' },
  per_query: {
    when: `(balances.balance_lamports >= listings.price_lamports
      and balances.max_price_lamports >= listings.price_lamports) is not true`,
    status: 'low_balance',
  },
};
/** Any other rental is as none. */
const IS_LISTED = `listings.status in ('active', 'paused', 'suspended') and ($3::text[] is null or listings.id = any($3))`;
const OF_WALLET = 'credentials.buyer = $1 and credentials.valid';

const unusable = Object.entries(UNUSABLE).flatMap(([model, found]) =>
  found
    ? [{ status: found.status, condition: `credentials.rental_model = '${model}' and ${found.when}` }]
    : [],
);
const IS_SUSPENDED = `listings.status = 'suspended'`;
const hasStatus = (status: CredentialStatus): string =>
  `not ${IS_SUSPENDED} and (${unusable
    .filter((found) => found.status === status)
    .map(({ condition }) => `(${condition})`)
    .join(' or ')})`;
const isUnusable = unusable.map(({ condition }) => `(${condition})`).join(' or ');
const STATUS = `case when ${IS_SUSPENDED} then 'suspended' ${unusable.map(({ condition, status }) => `when ${condition} then '${status}'`).join(' ')}
  else 'active' end`;

const EXPIRING = RENTAL_MODELS.filter((model) => RENTAL_TERMS[model].expires)
  .map((model) => `'${model}'`)
  .join(', ');

/** The conditions of the filters. `balances` is joined only where one names it. */
const FILTERS: Record<NonNullable<RentalFilter>, string> = {
  active: `not ${IS_SUSPENDED} and not (${isUnusable})`,
  expired: hasStatus('expired'),
  low_balance: hasStatus('low_balance'),
  suspended: IS_SUSPENDED,
  current: `not ${IS_SUSPENDED} and (credentials.rental_model not in (${EXPIRING}) or credentials.expires_at is null
    or credentials.expires_at >= $2::timestamptz - interval '${CURRENT_AFTER_HOURS} hours')`,
};

const LISTINGS = 'join listings on listings.address = credentials.listing_address';
/** The limit keeps the planner from a join that reads all balances. */
const BALANCES = `left join lateral (
  select balance_lamports, max_price_lamports from balances
  where listing_address = credentials.listing_address and buyer = credentials.buyer limit 1
) as balances on true`;
/** A scalar: of an `exists` the planner makes a hash of all versions. */
const HAS_EARLIER_VERSION = '(select number > 1 from agent_versions where id = listings.version_id limit 1)';
const ORDER = 'credentials.purchased_at desc, credentials.address desc';
const conditionOf = (filter: RentalFilter) =>
  filter === undefined ? IS_LISTED : `${IS_LISTED} and ${FILTERS[filter]}`;

/** Builds and prepares a statement once for each filter, of a first page and of one that follows a place. */
function ofEachFilter(
  textOf: (filter: RentalFilter, isAfter: boolean) => string,
): (filter: RentalFilter, isAfter: boolean) => string {
  const texts = { first: new Map<RentalFilter, string>(), after: new Map<RentalFilter, string>() };
  return (filter, isAfter) => {
    const known = isAfter ? texts.after : texts.first;
    const text = known.get(filter) ?? prepare(textOf(filter, isAfter));
    known.set(filter, text);
    return text;
  };
}

const pageText = ofEachFilter(
  (
    filter,
    isAfter,
  ) => `select credentials.address, listings.id as listing_id, listings.title as listing_title, listings.icon_sha256,
      credentials.rental_model, ${STATUS} as status, credentials.purchased_at,
      ${microsecondsOf('credentials.purchased_at')} as purchased_at_us, credentials.expires_at,
      balances.balance_lamports,
      coalesce(${HAS_EARLIER_VERSION}, false) as has_earlier_version
    from credentials ${LISTINGS} ${BALANCES}
    where ${OF_WALLET} and ${conditionOf(filter)}
      ${isAfter ? `and (credentials.purchased_at, credentials.address) < (${timeOfMicroseconds('$6')}, $7)` : ''}
    order by ${ORDER} limit $4 offset $5`,
);

/** Looks at a bounded number of rentals, also where few of them are in the list. */
const countText = ofEachFilter((filter, isAfter) => {
  const condition = conditionOf(filter);
  const balances = condition.includes('balances.') ? BALANCES : '';
  // Every statement takes the time: some filters name it.
  return `select count(*) as read, count(*) filter (where ${condition}) as total, $2::timestamptz
    from (select * from credentials where ${OF_WALLET}
      ${isAfter ? `and (credentials.purchased_at, credentials.address) < (${timeOfMicroseconds('$5')}, $6)` : ''}
      order by ${ORDER} limit $4) credentials
      left ${LISTINGS} ${balances}`;
});

/** The rentals that owners see, the latest purchase first. */
export interface RentalList {
  page(owner: Owner, filter: RentalFilter, now: Date, range: ListRange): Promise<ListedRental[]>;
  /**
   * Counts the rentals of the list: the seen ones, and the ones that follow. It looks at no more than
   * {@link COUNTED_FOR_TOTAL} rentals in all.
   */
  count(owner: Owner, filter: RentalFilter, now: Date, shown: ShownPart): Promise<ListCount>;
}

export function createRentalList(db: Db): RentalList {
  return {
    async page({ wallet, listingIds }, filter, now, { limit, offset, after }) {
      const place = after ? [after.timeUs, after.id] : [];
      const values = [wallet, now.toISOString(), listingIds ?? null, limit, offset, ...place];
      const text = pageText(filter, after !== undefined);
      return (await db.executeQuery<ListedRental>(CompiledQuery.raw(text, values))).rows;
    },
    async count({ wallet, listingIds }, filter, now, { seen, after }) {
      const most = COUNTED_FOR_TOTAL.rentals - seen;
      if (most <= 0) return { total: seen, isMinimum: true };
      const values = [
        wallet,
        now.toISOString(),
        listingIds ?? null,
        most,
        ...(after ? [after.timeUs, after.id] : []),
      ];
      const query = CompiledQuery.raw(countText(filter, after !== undefined), values);
      const { rows } = await db.executeQuery<{ read: bigint; total: bigint }>(query);
      const { read = 0n, total = 0n } = rows[0] ?? {};
      return { total: seen + Number(total), isMinimum: Number(read) === most };
    },
  };
}
