import { formatSol } from '@agent-rental/contract';
import type { OwnAgent, RentalModel } from '@agent-rental/contract';
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

const dayOf = (timestamp: string): string => timestamp.slice(0, 10);
