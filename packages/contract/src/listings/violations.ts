import type * as z from 'zod';
import { RENTAL_TERMS } from '../rentals/rental-model.js';
import { PRICE_LAMPORTS } from './registration.js';

/** One thing that is wrong with an agent. `path` is dotted, as in `tools.3.name`. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

/**
 * The issues of a schema as violations. An absent member is told as such.
 *
 * @param value that was parsed
 * @param prefix of the paths, with its dot
 */
export function violationsOf(error: z.ZodError | undefined, value: unknown, prefix = ''): Violation[] {
  return (error?.issues ?? []).map(({ path, message, code }) => {
    const isAbsent = path.length > 0 && code !== 'invalid_value' && memberAt(value, path) === undefined;
    return {
      path: (prefix + path.join('.')).replace(/\.$/, ''),
      message: isAbsent && !message.startsWith('is required') ? 'is required' : message,
    };
  });
}

function memberAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((part, key) => (Object(part) as Record<PropertyKey, unknown>)[key], value);
}

/**
 * The violations of a listing's price and deposit. It judges the members that have the right type, also where others are
 * wrong.
 *
 * @param minQueryPriceLamports the least price of a Per-Task listing on the marketplace
 */
export function priceViolations(terms: unknown, minQueryPriceLamports: number): Violation[] {
  const {
    rental_model: model,
    price_lamports: price,
    min_deposit_lamports: deposit,
  } = Object(terms) as Record<string, unknown>;
  if (!Number.isInteger(price)) return [];
  const isPrepaid =
    typeof model === 'string' &&
    Object.hasOwn(RENTAL_TERMS, model) &&
    RENTAL_TERMS[model as keyof typeof RENTAL_TERMS].isPrepaid;
  const least = isPrepaid ? minQueryPriceLamports : PRICE_LAMPORTS.min;
  const violations: Violation[] = [];
  if ((price as number) < least) {
    const what = isPrepaid ? 'of a per_query listing is at least' : 'is at least';
    violations.push({ path: 'listing.price_lamports', message: `${what} ${least} lamports` });
  }
  if (isPrepaid && Number.isInteger(deposit) && (deposit as number) < (price as number)) {
    violations.push({ path: 'listing.min_deposit_lamports', message: 'is below the price of one run' });
  }
  return violations;
}
