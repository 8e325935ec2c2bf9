import { createHash } from 'node:crypto';
import { SPENDING_WINDOW_HOURS } from '@agent-rental/contract';
import { spendingOfRental } from '../../renting/pay-rental.js';
import type { QuotedPayment, RentalQuote } from '../../renting/rental-quote.js';
import {
  ApprovalRequiredError,
  SpendingRefusedError,
  type SpendingPolicy,
  type SpendingRequest,
  type SpendingRule,
} from '../policy.js';
import { createSpending, type Spending } from '../spending.js';

/** The rules of a policy with the Python package's names. */
const RULES = {
  max_run: 'maxRunLamports',
  max_day: 'maxDayLamports',
  max_listing: 'maxListingLamports',
  listing_ids: 'listingIds',
  ask_above: 'askAboveLamports',
} as const satisfies Record<string, SpendingRule>;

/** A rental or a run that a caller plans. */
interface Step {
  /** The time, in seconds. */
  at: number;
  listing: string;
  /** A rental: the line of its transaction in `proposals.jsonl`. */
  proposal?: number;
  /** A run: the price that the marketplace tells. */
  price?: number;
  /** The person's answer. Only `true` approves. Absent: there is no person. */
  says?: unknown;
  /** A rental: `unsigned`, or signed and `lost` or `landed`. A run: its cost; absent if it is unknown. */
  end: 'unsigned' | 'lost' | 'landed' | number | undefined;
}

/** The answer to a step: the reserved amount, or the rule that refuses. `asked`: a person saw the spend. */
type Answer = ({ counted: number } | { refused: string }) & { asked?: true };

/** A policy with the spends of some days, and the tools' answers. */
export interface PolicyVector {
  policy: Partial<Record<keyof typeof RULES, number | string[]>>;
  steps: Step[];
  answers: Answer[];
}

/** A transaction's decoded cost. */
export type DecodedCost = QuotedPayment['quote'];

const LISTINGS = ['invoice-reader-k3x7qa', 'word-count-bbbbbb', 'plain-words-cccccc'];
const PRICES = [0, 1, 1_000, 250_000, 1_000_000, 5_000_000];
const DAY_SECONDS = SPENDING_WINDOW_HOURS * 3_600;
const MOST_STEPS = 8;

/** Whole numbers below a bound, which follow from a name. */
function diceOf(name: string) {
  let count = 0;
  const below = (bound: number): number => {
    count += 1;
    return createHash('sha256').update(`${name} ${count}`).digest().readUInt32LE(0) % bound;
  };
  return { below, of: <T>(values: readonly T[]): T => values[below(values.length)] as T };
}

/**
 * Policies with spends that they allow and refuse.
 *
 * @param costs decoded costs of transactions, by their line in the file of proposals
 */
export async function policyVectors(
  count: number,
  costs: ReadonlyMap<number, DecodedCost>,
): Promise<PolicyVector[]> {
  const vectors: PolicyVector[] = [];
  for (let number = 0; number < count; number += 1) {
    const { below, of } = diceOf(`policy ${number}`);
    const totals = [...costs.values()].map((cost) => cost.total_lamports);
    /** An amount at, just below or above a spend or some spends. */
    const limit = (spends: readonly number[]): number =>
      Math.max(of(spends) * (1 + below(3)) + of([-1, 0, 1, 1_000_000]), 0);
    const policy: PolicyVector['policy'] = {
      ...(below(3) === 0 ? { max_run: limit(PRICES) } : {}),
      ...(below(2) === 0 ? { max_day: limit([...totals, ...PRICES]) } : {}),
      ...(below(3) === 0 ? { max_listing: limit([...totals, ...PRICES]) } : {}),
      ...(below(4) === 0 ? { listing_ids: LISTINGS.slice(below(3)) } : {}),
      ...(below(3) === 0 ? { ask_above: limit([...totals, ...PRICES]) } : {}),
    };
    const home = of(LISTINGS);
    let at = 0;
    const steps = Array.from({ length: 1 + below(MOST_STEPS) }, (): Step => {
      at += of([0, 1, 3_600, DAY_SECONDS - 3_600, DAY_SECONDS, DAY_SECONDS + 1]);
      const says = of<object>([{}, { says: true }, { says: true }, { says: false }, { says: 1 }]);
      // Most spends are for one listing, whose agreed price changes.
      const listing = below(3) === 0 ? of(LISTINGS) : home;
      if (below(2) === 0)
        return {
          at,
          listing,
          proposal: of([...costs.keys()]),
          ...says,
          end: of(['unsigned', 'lost', 'landed']),
        };
      const price = of(PRICES);
      return { at, listing, price, ...says, end: of([undefined, 0, price, price, Math.floor(price / 2)]) };
    });
    vectors.push({ policy, steps, answers: await answersOf(policy, steps, costs) });
  }
  return vectors;
}

/** The tools' answers to the steps, in their order. */
async function answersOf(
  given: PolicyVector['policy'],
  steps: readonly Step[],
  costs: ReadonlyMap<number, DecodedCost>,
): Promise<Answer[]> {
  const policy = Object.fromEntries(
    Object.entries(RULES).map(([name, rule]) => {
      const value = given[name as keyof typeof RULES];
      return [rule, typeof value === 'number' ? BigInt(value) : value];
    }),
  ) as SpendingPolicy;
  let nowMs = 0;
  const spending = createSpending({ policy, now: () => nowMs });
  const answers: Answer[] = [];
  for (const [number, step] of steps.entries()) {
    nowMs = step.at * 1_000;
    let asked = {};
    const approve = () => {
      asked = { asked: true };
      return step.says as boolean;
    };
    try {
      const { request, perRun } = await requestOf(step, costs, spending);
      const spent = await spending.reserve(`step ${number}`, request, 'says' in step ? { approve } : {});
      answers.push({ counted: request.lamports, ...asked });
      if (step.end === 'unsigned') await spent.settle(0n);
      else if (typeof step.end === 'number') await spent.settle(BigInt(step.end));
      else if (step.end !== undefined && perRun !== undefined) {
        await spending.agreedPrices.note(step.listing, perRun);
        if (step.end === 'landed') await spending.agreedPrices.confirm(step.listing, perRun);
      }
    } catch (error) {
      answers.push({ refused: refusalOf(error), ...asked });
    }
  }
  return answers;
}

async function requestOf(
  { listing: agentId, proposal, price }: Step,
  costs: ReadonlyMap<number, DecodedCost>,
  spending: Spending,
): Promise<{ request: SpendingRequest; perRun?: bigint | undefined }> {
  const cost = proposal === undefined ? undefined : costs.get(proposal);
  if (cost === undefined) {
    const lamports = (await spending.mostOfRun(agentId, price)) ?? 0;
    return { request: { kind: 'run', agentId, title: agentId, lamports } };
  }
  const listing = { id: agentId, title: agentId } as RentalQuote['listing'];
  const perRun = cost.max_run_lamports;
  return {
    request: spendingOfRental({ listing } as RentalQuote, { quote: cost } as QuotedPayment),
    perRun: perRun === undefined ? undefined : BigInt(perRun),
  };
}

function refusalOf(error: unknown): string {
  if (error instanceof ApprovalRequiredError) return 'approval_required';
  if (!(error instanceof SpendingRefusedError)) throw error;
  const [name] = Object.entries(RULES).find(([, rule]) => rule === error.rule) ?? [];
  return name ?? error.rule;
}
