import type { Json } from '@agent-rental/contract';
import { schemaViolations } from '../../platform/json-schema/checks.js';
import type { PrivatePart, ReviewRun, ReviewSheet } from '../../registration/index.js';
import { OperatorError } from '../operator-error.js';
import type { TestTask } from './parse.js';

/** Longest test run; the agent's own limit may be shorter. */
const MAX_RUN_MS = 60_000;

/** A test run and its end. */
export type TestResult = TestTask & { duration_ms: number } & ({ output: Json } | { problem: string });

/**
 * Runs the present version once, as the run for its samples does: in a sandbox, without a rental, a slot or a record.
 *
 * @throws OperatorError for an input that the schema refuses, and an agent that cannot run
 */
export async function makeTestRun(
  run: ReviewRun,
  { sheet, part }: { sheet: ReviewSheet; part: PrivatePart | undefined },
  { task, input }: TestTask,
): Promise<TestResult> {
  if (part === undefined)
    throw new OperatorError('This version cannot run any more: its secrets were removed.');
  const { input_schema: inputSchema, output_schema: outputSchema, timeout_seconds: seconds } = sheet.present;
  const faults = await schemaViolations(inputSchema, input);
  if (faults.length > 0) {
    const told = faults.slice(0, 5).map(({ path, message }) => `${path}: ${message}`);
    throw new OperatorError(`The input_schema refuses this input: ${told.join('; ')}`);
  }
  const startedAt = performance.now();
  const made = await run(part, {
    listingId: sheet.listing_id,
    task,
    input,
    outputSchema,
    timeoutMs: Math.min(seconds * 1000, MAX_RUN_MS),
    readsWeb: true,
  });
  const end = 'output' in made ? { output: made.output } : { problem: made.problem };
  return { task, input, duration_ms: Math.round(performance.now() - startedAt), ...end };
}
