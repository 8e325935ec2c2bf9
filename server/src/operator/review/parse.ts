import { parseArgs } from 'node:util';
import * as z from 'zod';
import type { Json } from '@agent-rental/contract';
import { OperatorError } from '../operator-error.js';
import { readingArguments } from '../reading-arguments.js';

const MOST_RUN_BYTES = 64 * 1024;

/** A command about reviews that changes nothing. */
export type ReviewCommand =
  | { name: 'reviews'; json: boolean }
  | { name: 'review'; listingId: string; run: TestTask | undefined; json: boolean };

/** The task of a test run. */
export interface TestTask {
  task: string;
  input: string | Record<string, Json>;
}

export const REVIEW_USAGE = `  npm run operator -- reviews [--json]                  registrations that wait for a first review
  npm run operator -- review <listing_id> [--json]      all that a reviewer judges: the system prompt, too; the look is logged
  npm run operator -- review <listing_id> --run '{"task": "...", "input": {...}}'
                                                        runs the agent once on that input, in a sandbox and charged to no one
`;

const testTask = z.strictObject({
  task: z.string().min(1).max(100_000),
  input: z.union([z.string(), z.record(z.string(), z.json())]),
});

/** Reads a command line about reviews; undefined for any other. @throws OperatorError naming its fault */
export function parseReviewCommand([name, ...rest]: readonly string[]): ReviewCommand | undefined {
  if (name !== 'reviews' && name !== 'review') return undefined;
  const { values, positionals } = readArguments(name, rest);
  if (values.help) return undefined;
  const { json } = values;
  if (name === 'reviews') {
    if (positionals.length > 0 || values.run !== undefined)
      throw new OperatorError('It is: reviews [--json]. The command review <listing_id> shows one of them.');
    return { name, json };
  }
  const [listingId, ...more] = positionals;
  if (listingId === undefined || more.length > 0)
    throw new OperatorError('It is: review <listing_id> [--run JSON] [--json]');
  return { name, listingId, run: values.run === undefined ? undefined : parseRun(values.run), json };
}

function readArguments(name: string, args: string[]) {
  return readingArguments(name, () =>
    parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        json: { type: 'boolean', default: false },
        run: { type: 'string' },
      },
    }),
  );
}

function parseRun(text: string): TestTask {
  const form = 'It is one JSON object: --run \'{"task": "Read it.", "input": {"text": "..."}}\'';
  if (Buffer.byteLength(text) > MOST_RUN_BYTES)
    throw new OperatorError(`--run has more than ${MOST_RUN_BYTES} bytes.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new OperatorError(`--run is no JSON. ${form}`);
  }
  const parsed = testTask.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new OperatorError(`--run: ${[...(issue?.path ?? []), issue?.message].join(': ')}. ${form}`);
}
