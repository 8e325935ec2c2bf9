import { findSecrets, MODEL_PROVIDERS, SAMPLE_RUNS_PER_DAY, type Json } from '@agent-rental/contract';
import type { Keys } from '../../platform/keys.js';
import { openPrivatePart, type PrivatePart } from '../manifest/private-part.js';
import type { ProbeFailure } from '../probe-outcome.js';
import type { RegistrationRepository } from '../repository.js';
import { sampleInputOf } from './sample-input.js';

/** Longest sample output that a listing shows, in characters. */
const SAMPLE_CHARACTERS = 4_000;
const PROBLEM_CHARACTERS = 500;
/** The agent gets its own time, up to this, in milliseconds. */
export const MAX_SAMPLE_RUN_MS = 60_000;
const TASK =
  'Do your work on this input. The answer is shown to those who think of renting you, as a sample.';

/** One real run of an agent, as a renter's would be, outside any rental. `failure`: the agent was not reached. */
export type ReviewRun = (
  agent: PrivatePart,
  request: {
    /** The `agent_id` that a connected agent is given. */
    listingId: string;
    task: string;
    input: string | Record<string, Json>;
    outputSchema: Record<string, unknown>;
    timeoutMs: number;
    /** False: pages that the agent asks for are refused. */
    readsWeb: boolean;
  },
) => Promise<{ output: Json } | { problem: string; failure?: ProbeFailure | undefined }>;

/** The part of a review that makes a sample, for listings whose creators sent none. */
export interface SampleTaker {
  /**
   * The background task. Runs the agent once, and stores its input and its answer. Does nothing for a listing with
   * samples, or with an agent that the service cannot run.
   *
   * @throws the error of a run that could not be made; the queue tries again.
   */
  take(listingId: string): Promise<void>;
}

/** Whether a version can be run at all by the service: a vendor asks for a key, a creator's own model may not. */
export function canBeSampled(part: PrivatePart): boolean {
  if (part.mode === 'connected') return true;
  return !MODEL_PROVIDERS[part.model.provider].needsKey || part.model.key !== undefined;
}

export function createSampleTaker(deps: {
  repository: Pick<
    RegistrationRepository,
    'findVersionWithoutSamples' | 'storeSamples' | 'beginSampleRun' | 'storeProbe' | 'requestProbe'
  >;
  keys: Keys;
  run: ReviewRun;
}): SampleTaker {
  return {
    async take(listingId) {
      const found = await deps.repository.findVersionWithoutSamples(listingId);
      if (!found) return;
      const { version, sampleInput, creator, isPublisher } = found;
      const part = openPrivatePart(deps.keys, version.id, version.private_part);
      if (!canBeSampled(part)) return;
      const input = sampleInput ?? (await sampleInputOf(version.input_schema));
      const store = (samples: { input: string | null; output: string[]; problem: string | null }) =>
        deps.repository.storeSamples(listingId, version.id, samples);
      if (input === undefined) {
        const problem =
          'The review could not show a sample: no input was found that matches input_schema. Give it examples, or send listing.sample_output.';
        await store({ input: null, output: [], problem });
        await deps.repository.requestProbe(listingId);
        return;
      }
      // Each try may cost the creator's model, and takes a turn of the shared queue.
      if (!(await deps.repository.beginSampleRun(creator))) {
        const problem =
          `The review did not run the agent: the agents of this wallet ran ${SAMPLE_RUNS_PER_DAY} times within 24 hours. ` +
          'Send listing.sample_output with the registration, or change the agent tomorrow.';
        await store({ input: null, output: [], problem });
        await deps.repository.requestProbe(listingId);
        return;
      }
      const made = await deps.run(part, {
        listingId,
        task: TASK,
        input,
        outputSchema: version.output_schema,
        timeoutMs: Math.min(version.timeout_seconds * 1000, MAX_SAMPLE_RUN_MS),
        // Registering is free: without this the service would be an anonymous proxy for GET requests.
        readsWeb: isPublisher,
      });
      // A run has the result of a probe, too.
      const failure = 'problem' in made ? made.failure : undefined;
      await deps.repository.storeProbe(listingId, version.id, failure ?? 'reached');
      const problem = 'problem' in made ? made.problem : secretIn(made.output);
      await store({
        input: JSON.stringify(input),
        output: 'output' in made && problem === undefined ? [shown(made.output)] : [],
        problem:
          problem === undefined
            ? null
            : `The review's run gave no sample. ${storable(problem, PROBLEM_CHARACTERS)}`,
      });
    },
  };
}

/** Why an output is not shown to everyone; undefined where it holds no secret. */
function secretIn(output: Json): string | undefined {
  const [secret] = findSecrets(output);
  return (
    secret &&
    `The output holds what looks like ${secret.kind}: take it out of the agent, and replace the key.`
  );
}

function shown(output: Json): string {
  return storable(typeof output === 'string' ? output : JSON.stringify(output), SAMPLE_CHARACTERS);
}

/** Text that PostgreSQL can hold, cut to a length: no null characters, no half of a surrogate pair. */
export function storable(text: string, characters: number): string {
  const whole = text.replaceAll('\0', '');
  const cut = whole.length <= characters ? whole : `${whole.slice(0, characters - 1)}…`;
  return Buffer.from(cut).toString();
}
