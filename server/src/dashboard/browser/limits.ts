import type { SpendingPolicy } from '@agent-rental/contract';
import { lamportsOf } from './payment.js';
import { findInput } from './wallets.js';
import type { ElementSelector } from '../element-ids.js';

/**
 * The limits typed into a page's `#per-run`, `#per-day` and `#ask-above`; an empty field sets no limit.
 *
 * @throws Error naming the expected text.
 */
export function policyOf(root: HTMLElement): SpendingPolicy {
  const typed = (selector: ElementSelector) => findInput(root, selector).value.trim();
  const [run, day, ask] = [typed('#per-run'), typed('#per-day'), typed('#ask-above')];
  return {
    ...(run === '' ? {} : { max_run_lamports: lamportsOf(run) }),
    ...(day === '' ? {} : { max_day_lamports: lamportsOf(day) }),
    ...(ask === '' ? {} : { ask_above_lamports: lamportsOf(ask) }),
  };
}
