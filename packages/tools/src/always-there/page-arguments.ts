import { numberArgument } from '../runs/run-arguments.js';

/** `limit` and `offset` of a list call, clamped to their bounds. */
export function pageArguments(
  given: Record<string, unknown>,
  bounds: { default: number; max: number },
): { limit: number; offset: number } {
  const limit = Math.trunc(numberArgument(given, 'limit') ?? bounds.default);
  const offset = Math.trunc(numberArgument(given, 'offset') ?? 0);
  return { limit: Math.min(Math.max(limit, 1), bounds.max), offset: Math.max(offset, 0) };
}
