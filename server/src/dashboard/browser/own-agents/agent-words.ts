import { formatSol } from '@agent-rental/contract';
import type { AgentsStats, Earnings, OwnAgent, RentalModel } from '@agent-rental/contract';
import { percentWords } from '../chart/units.js';
import { visible } from '../markup.js';

const PROBLEM_CHARACTERS = 1_000;

const PAID: Readonly<Record<RentalModel, string>> = {
  one_time: 'once',
  subscription: 'for 30 days',
  per_query: 'per task',
};

/** The price of an agent in words; undefined before it has one. */
export function priceWords({
  rental_model: model,
  price_lamports: price,
}: Pick<OwnAgent, 'rental_model' | 'price_lamports'>): string | undefined {
  return model === null || price === null ? undefined : `${formatSol(price)} ${PAID[model]}`;
}

/** The problems of an agent, each with its first day. */
export function agentProblems(agent: OwnAgent): string[] {
  const { unreachable, unverified_since: unverified, failing_since: failing, hidden_since: hidden } = agent;
  const since = (text: string, at: string | undefined) =>
    at === undefined ? [] : [`${text} since ${dayOf(at)}.`];
  return [
    ...(unreachable === null
      ? []
      : [
          `Not reached since ${dayOf(unreachable.since)}. ${visible(unreachable.message, PROBLEM_CHARACTERS)}`,
        ]),
    ...since('Published without having been reached, and not reached', unverified),
    ...since('It fails at night, and renters are told so,', failing),
    ...since('Search leaves it out', hidden),
  ];
}

/** The amounts of earnings, for a list of facts. */
export function amountsOf({
  earned_lamports: earned,
  withdrawable_lamports: withdrawable,
  pending_lamports: pending,
}: Earnings['sum']): [string, string][] {
  return [
    ['Ever earned', formatSol(earned)],
    ['To withdraw', formatSol(withdrawable)],
    ['Pending', formatSol(pending)],
  ];
}

/** Runs, success and earnings of an agent in words; undefined counts are of an agent without runs. */
export function weekWords(counts: AgentsStats['agents'][number] | undefined): string {
  if (counts === undefined) return 'no runs.';
  const { completed, failed, undelivered, earned_lamports: earned } = counts;
  const runs = completed + failed + undelivered;
  const ended = completed + failed;
  return [
    runs === 1 ? '1 run' : `${runs.toLocaleString('en')} runs`,
    ...(ended === 0 ? [] : [`${percentWords(completed / ended)} succeeded`]),
    `earned ${formatSol(earned)}.`,
  ].join(', ');
}

const dayOf = (timestamp: string): string => timestamp.slice(0, 10);
