import { EVENTS_PAGE_PATH } from '../api/service-endpoints.js';
import { EXPIRING_SECRET_HOURS } from '../limits.js';
import { formatSol } from '../amounts.js';
import { EVENTS, type EventName, type WalletEvent } from './events.js';

/** Each event in words for people. `agent` is the title of its listing. */
const WORDS: { readonly [N in EventName]: (data: WalletEvent<N>['data'], agent: string) => string } = {
  'run.completed': (_, agent) => `A run of ${agent} has a result.`,
  'run.failed': (_, agent) => `A run of ${agent} ended without a result.`,
  'run.credited': (_, agent) => `A run of ${agent} failed by a fault of the service. You have a free run.`,
  'approval.requested': ({ kind, lamports }, agent) =>
    `An API key asks to spend ${formatSol(lamports)} on a ${kind} of ${agent}.`,
  'approval.answered': ({ state, kind, lamports }, agent) =>
    `A ${kind} of ${agent} for ${formatSol(lamports)} was ${state}.`,
  'rental.created': (_, agent) => `You rent ${agent}.`,
  'rental.expiring': ({ days }, agent) =>
    `Your subscription of ${agent} ends within ${days === 1 ? '1 day' : `${days} days`}.`,
  'rental.expired': (_, agent) => `Your subscription of ${agent} has ended.`,
  'balance.low': ({ balance_lamports }, agent) =>
    `Your balance of ${agent} is low: ${formatSol(balance_lamports)}.`,
  'balance.empty': (_, agent) => `Your balance of ${agent} pays for no more run.`,
  'price.changed': ({ price_lamports, previous_price_lamports }, agent) =>
    `The price of ${agent} changed from ${formatSol(previous_price_lamports)} to ${formatSol(price_lamports)}.`,
  'listing.version_changed': ({ version, breaking }, agent) =>
    `${agent} has version ${version}${breaking ? ', which breaks callers of the version before' : ''}.`,
  'listing.paused': (_, agent) => `${agent}, which you rent, is paused.`,
  'listing.closed': (_, agent) => `${agent}, which you rent, was closed.`,
  'key.created': ({ label }) => `Your wallet has a new API key: ${label}.`,
  'app.connected': ({ label }) => `An app was connected to your wallet: ${label}.`,
  'webhook.paused': () => 'A webhook failed for 3 days. It is paused.',
  'email.refused': () => 'The mail server refused your e-mail address. No more messages go there.',
  'webhook.test': () => 'A webhook was tested.',
  'listing.approved': (_, agent) => `A review approved a version of your agent ${agent}.`,
  'listing.rejected': (_, agent) => `A review rejected a version of your agent ${agent}.`,
  'secret.expiring': (_, agent) =>
    `The replaced webhook secret of your agent ${agent} signs for ${EXPIRING_SECRET_HOURS} more hours. Check calls by the new one.`,
  'agent.failing': (_, agent) => `Your agent ${agent} fails its checks.`,
  'agent.recovered': (_, agent) => `Your agent ${agent} works again.`,
  'rental.sold': (_, agent) => `Your agent ${agent} was rented.`,
  'earnings.withdrawn': ({ lamports }, agent) => `You withdrew ${formatSol(lamports)} earned by ${agent}.`,
  'review.posted': ({ rating }, agent) => `Your agent ${agent} has a review with ${rating} of 5 stars.`,
};

/**
 * An event in words for people.
 *
 * @param title of its listing; absent: unknown
 * @param quote makes the words of a stranger safe to show: the title, and the label of a key or an app
 */
export function eventWords(
  { name, data }: Pick<WalletEvent, 'name'> & { data: object },
  title: string | undefined,
  quote: (text: string) => string,
): string {
  const write = WORDS[name] as (data: object, agent: string) => string;
  const label = 'label' in data && typeof data.label === 'string' ? { label: quote(data.label) } : {};
  return write({ ...data, ...label }, title === undefined ? 'an agent' : quote(title));
}

/** The page of the thing that an event is about; undefined where there is none. */
export function eventPage({ name, data }: Pick<WalletEvent, 'name'> & { data: object }): string | undefined {
  if (name.startsWith('webhook.')) return `${EVENTS_PAGE_PATH}#webhooks`;
  if (name.startsWith('email.')) return `${EVENTS_PAGE_PATH}#email`;
  if (name === 'key.created' || name === 'app.connected') return '/dashboard/keys';
  const fields: Record<string, unknown> = { ...data };
  const pages = {
    run_id: '/dashboard/runs',
    approval_id: '/dashboard/approvals',
    listing_id: EVENTS[name].to === 'creator' ? '/dashboard/creator/agents' : '/dashboard/listings',
  };
  for (const [field, path] of Object.entries(pages)) {
    const id = fields[field];
    if (typeof id === 'string') return `${path}/${encodeURIComponent(id)}`;
  }
  return undefined;
}
