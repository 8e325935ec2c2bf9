import type { SpendingPolicy } from '@agent-rental/contract';
import { lamportsOf } from './payment.js';
import { findInput } from './wallets.js';
import { readField } from './wrong-field.js';
import type { ElementSelector } from '../element-ids.js';

/**
 * The limits typed into a page's `#per-run`, `#per-day` and `#ask-above`; an empty field sets no limit.
 *
 * @throws WrongField naming the expected text.
 */
export function policyOf(root: HTMLElement): SpendingPolicy {
  const typed = (selector: ElementSelector) =>
    readField(findInput(root, selector), (text) => (text.trim() === '' ? undefined : lamportsOf(text)));
  const [run, day, ask] = [typed('#per-run'), typed('#per-day'), typed('#ask-above')];
  return {
    ...(run === undefined ? {} : { max_run_lamports: run }),
    ...(day === undefined ? {} : { max_day_lamports: day }),
    ...(ask === undefined ? {} : { ask_above_lamports: ask }),
  };
}
