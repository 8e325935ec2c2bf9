import type { ListingTerms } from '@agent-rental/contract';
import { schemaViolations } from '../../platform/json-schema/checks.js';
import type { Keys } from '../../platform/keys.js';
import type { Logger } from '../../platform/logger.js';
import { openPrivatePart } from '../manifest/private-part.js';
import { sampleInputOf } from '../samples/sample-input.js';
import { canBeSampled, MAX_SAMPLE_RUN_MS, storable, type ReviewRun } from '../samples/samples.js';
import type { HealthRepository } from './health-repository.js';

/** Name of the job that queues the runs that are due, and when it is done: every ten minutes of the night, by one replica. */
export const HEALTH_ROUND_TASK = 'queue_health_checks';
export const HEALTH_CRONTAB = `*/10 0-5 * * * ${HEALTH_ROUND_TASK}`;

/** Runs that a round queues: as many as four at once, of a minute each, finish until the next round. */
const MOST_OF_ROUND = 40;
const PROBLEM_CHARACTERS = 500;
/** As plain as a renter's: an agent cannot tell that it is only checked. */
const TASK = 'Do your work on this input.';

/** Runs listings at night, to see whether they work. */
export interface HealthChecks {
  /** The job of a round. */
  queueDue(): Promise<void>;
  /**
   * The background task: runs a listing's agent once, as a renter would, and notes whether it worked. A fault of the service
   * says nothing of the agent.
   */
  check(listingId: string): Promise<void>;
}

export function createHealthChecks(deps: {
  repository: HealthRepository;
  keys: Keys;
  run: ReviewRun;
  logger: Pick<Logger, 'warn'>;
}): HealthChecks {
  const { repository, keys, run, logger } = deps;

  async function check(listingId: string): Promise<void> {
    const found = await repository.find(listingId);
    if (!found) return;
    const { creator, version, sampleInput } = found;
    const part = openPrivatePart(keys, version.id, version.private_part);
    const input = await inputOf(version.input_schema, sampleInput);
    // Without an input that its schema takes, nothing tells whether it works.
    if (input === undefined) return;
    if (!canBeSampled(part)) {
      await repository.note(listingId, version.id, 'The agent has no model key.');
      return;
    }
    if (!(await repository.begin(listingId, creator))) return;
    const made = await run(part, {
      listingId,
      task: TASK,
      input,
      outputSchema: version.output_schema,
      timeoutMs: Math.min(version.timeout_seconds * 1000, MAX_SAMPLE_RUN_MS),
      readsWeb: true,
    });
    const problem = 'problem' in made ? storable(made.problem, PROBLEM_CHARACTERS) : null;
    await repository.note(listingId, version.id, problem);
  }

  return {
    async queueDue() {
      await repository.queueDue(MOST_OF_ROUND);
    },
    async check(listingId) {
      try {
        await check(listingId);
      } catch (err) {
        logger.warn(
          { err, listing_id: listingId },
          'a listing could not be checked; it is tried the next night',
        );
      }
    },
  };
}

/** The creator's sample input, if the schema still accepts it; otherwise an input made from the schema. */
async function inputOf(schema: Record<string, unknown>, given: ListingTerms['sample_input']) {
  const isTaken = given !== undefined && (await schemaViolations(schema, given)).length === 0;
  return isTaken ? given : sampleInputOf(schema);
}
