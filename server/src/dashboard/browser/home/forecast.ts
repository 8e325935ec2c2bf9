import type { Credential, Spending } from '@agent-rental/contract';

const DAY_MS = 86_400_000;
const YEAR_DAYS = 365;

/**
 * How long the balance of a Per-Task rental lasts; undefined without spending, and for the other models.
 *
 * @param lastWeek the wallet's runs within seven days of UTC, of which the present one is not over
 */
export function forecastWords(
  { listing_id: id, balance_lamports: balance = 0 }: Pick<Credential, 'listing_id' | 'balance_lamports'>,
  { agents, since }: Pick<Spending, 'agents' | 'since'>,
  now: Date,
): string | undefined {
  const spent = agents.find(({ listing_id: of }) => of === id)?.spent_lamports ?? 0;
  if (spent <= 0 || balance <= 0) return undefined;
  // A wrong clock of the browser must not make more than a week of a week.
  const days = Math.min(7, Math.max(6, (now.getTime() - Date.parse(since)) / DAY_MS));
  const left = balance / (spent / days);
  return `Lasts ${lengthOf(left)} at the spending of the last 7 days.`;
}

function lengthOf(days: number): string {
  if (days < 1) return 'less than a day';
  if (days > YEAR_DAYS) return 'more than a year';
  const whole = Math.round(days);
  return whole === 1 ? 'about 1 day' : `about ${whole} days`;
}
