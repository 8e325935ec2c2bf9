import { DURATIONS, MAX_PRICE, MIN_PRICE, U64_MAX } from '../model/money.js';
import type { Random } from '@agent-rental/test/support/random';

/** A number of 64 bits at or beside one of the given ones, at a limit, or anywhere. */
export function amountNear(random: Random, ...interesting: bigint[]): bigint {
  const roll = random.below(10);
  if (roll < 7 && interesting.length > 0) {
    const offset = random.chance(60) ? 0n : BigInt(random.below(5) - 2);
    return clamp(random.pick(interesting) + offset);
  }
  return roll < 9 ? random.pick([0n, 1n, MIN_PRICE, MAX_PRICE, MAX_PRICE + 1n, U64_MAX]) : random.anyLength();
}

/** A price that is allowed, of any size. */
export function allowedPrice(random: Random, floor = MIN_PRICE): bigint {
  const roll = random.below(10);
  if (roll === 0) {
    return random.pick([floor, floor + 1n, MAX_PRICE - 1n, MAX_PRICE]);
  }
  const price = floor + (random.anyLength() % (roll < 8 ? 10n ** 10n : MAX_PRICE));
  return price > MAX_PRICE ? MAX_PRICE : price;
}

/** A window, mostly one that is on sale. */
export function duration(random: Random): bigint {
  return random.chance(90) ? random.pick(DURATIONS) : amountNear(random, ...DURATIONS);
}

/** Cuts a number to what a u64 holds. */
export function clamp(value: bigint): bigint {
  return value < 0n ? 0n : value > U64_MAX ? U64_MAX : value;
}
