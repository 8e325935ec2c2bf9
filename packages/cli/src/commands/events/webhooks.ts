import type { CreatedWebhook, Webhook, WebhookAttempt, WebhookDelivery } from '@agent-rental/sdk';
import type { CliEnvironment } from '../../cli-environment.js';
import { CommandError, UsageError } from '../../errors.js';
import { limitOf, secondOf } from '../../lists.js';
import { connect } from '../../marketplace.js';
import type { MarketplaceOptions } from '../../options.js';
import { report } from '../../report.js';
import { eventNamesOf, inWords } from './events.js';

/** `agent-rental webhooks list`: the addresses that hear of events. */
export async function listWebhooksCommand(
  options: MarketplaceOptions,
  environment: CliEnvironment,
): Promise<void> {
  const { client } = connect(options, environment);
  const answer = await client.listWebhooks({ signal: environment.signal });
  const none = ['There are no webhooks.'];
  report(
    options,
    environment,
    answer,
    answer.webhooks.length === 0 ? none : answer.webhooks.flatMap(linesOf),
  );
}

/** `agent-rental webhooks add`: a webhook for an address, or the one that signs the callbacks of runs. */
export async function addWebhookCommand(
  url: string | undefined,
  options: MarketplaceOptions & { events?: string; callbacks?: true },
  environment: CliEnvironment,
): Promise<void> {
  if ((url === undefined) !== (options.callbacks === true))
    throw new UsageError('Give an address, or --callbacks.');
  const events = eventNamesOf(options.events, '--events');
  const { client } = connect(options, environment);
  const created = await client.createWebhook({ url, events }, { signal: environment.signal });
  report(options, environment, created, [
    ...linesOf(created),
    ...secretLines(created),
    ...(url === undefined
      ? ['A run whose request has a callback_url tells its end there.']
      : [`Try it with "agent-rental webhooks test ${created.id}".`]),
  ]);
}

/** `agent-rental webhooks rotate`: a new signing secret. */
export async function rotateWebhookCommand(
  id: string,
  options: MarketplaceOptions,
  environment: CliEnvironment,
): Promise<void> {
  const { client } = connect(options, environment);
  const rotated = await client.rotateWebhook(id, { signal: environment.signal });
  report(options, environment, rotated, [
    ...secretLines(rotated),
    'For 24 hours the old secret signs, too. Give the receiver the new one by then.',
  ]);
}

/** `agent-rental webhooks test`: sends an event now. @throws CommandError where the address did not take it. */
export async function testWebhookCommand(
  id: string,
  options: MarketplaceOptions,
  environment: CliEnvironment,
): Promise<void> {
  const { client } = connect(options, environment);
  const attempt = await client.testWebhook(id, { signal: environment.signal });
  report(options, environment, attempt, [attemptLine(attempt)]);
  if (attempt.reason !== undefined)
    throw new CommandError(`The address did not take the event: ${attempt.reason}`);
}

/** `agent-rental webhooks pause`, `resume` and `remove`. */
export async function changeWebhookCommand(
  change: 'pause' | 'resume' | 'remove',
  id: string,
  options: MarketplaceOptions,
  environment: CliEnvironment,
): Promise<void> {
  const { client } = connect(options, environment);
  const given = { signal: environment.signal };
  if (change === 'remove') {
    report(options, environment, await client.deleteWebhook(id, given), [`The webhook ${id} is removed.`]);
    return;
  }
  const webhook = await client.updateWebhook(id, { paused: change === 'pause' }, given);
  report(options, environment, webhook, linesOf(webhook));
}

/** `agent-rental webhooks deliveries`: the requests to a webhook, and their answers. */
export async function deliveriesCommand(
  id: string,
  options: MarketplaceOptions & { limit?: string },
  environment: CliEnvironment,
): Promise<void> {
  const limit = limitOf(options);
  const { client } = connect(options, environment);
  const page = await client.listDeliveries(id, { limit }, { signal: environment.signal });
  const shown = page.deliveries.toReversed();
  report(
    options,
    environment,
    page,
    shown.length === 0 ? ['There are no deliveries.'] : shown.flatMap(deliveryLines),
  );
}

/** `agent-rental webhooks redeliver`: sends an event again, now. */
export async function redeliverCommand(
  id: string,
  eventId: string,
  options: MarketplaceOptions,
  environment: CliEnvironment,
): Promise<void> {
  const { client } = connect(options, environment);
  const delivery = await client.redeliver(id, eventId, { signal: environment.signal });
  report(options, environment, delivery, deliveryLines(delivery));
}

function linesOf({ id, url, events, paused_at: paused, failing_since: failing }: Webhook): string[] {
  const state =
    paused !== undefined
      ? `paused since ${secondOf(paused)}`
      : failing !== undefined
        ? `fails since ${secondOf(failing)}`
        : 'active';
  return [
    `${id} ${state}`,
    `  ${url ?? 'signs the callbacks of runs'}`,
    `  ${events?.join(', ') ?? 'all events'}`,
  ];
}

const secretLines = ({ secret }: CreatedWebhook): string[] => [
  `Secret: ${secret}`,
  'It is shown once. Keep it where the receiver finds it, and check each request with it.',
];

const attemptLine = ({ at, http_status: status, duration_ms: ms, reason }: WebhookAttempt): string =>
  `${secondOf(at)} ${status === undefined ? 'no answer' : `answer ${status}`} after ${ms} ms${reason === undefined ? '' : `: ${reason}`}`;

function deliveryLines(delivery: WebhookDelivery): string[] {
  const { event_id: id, created_at: at, name, subject, status, attempts, next_attempt_at: next } = delivery;
  return [
    `${secondOf(at)} ${status.padEnd(9)} ${id}`,
    `  ${inWords(name)}: ${subject}`,
    ...attempts.map((attempt) => `  ${attemptLine(attempt)}`),
    ...(next === undefined ? [] : [`  next attempt ${secondOf(next)}`]),
  ];
}
