import * as z from 'zod';
import { errorEnvelope } from '../errors/errors.js';
import { runCallback } from '../events/webhooks.js';
import { TIMEOUT_SECONDS } from '../listings/manifest.js';
import { cursorPage, jsonObject, jsonValue, lamports, listingId, pageEnd, timestamp } from '../primitives.js';

/** Body of `POST /v1/execute` and `/v1/execute/stream`. */
export const executeBody = z
  .strictObject({
    agent_id: z.string().max(200),
    task: z.string().min(1).max(100_000),
    input: z.union([z.string(), jsonObject]).optional(),
    input_uri: z.string().max(500).optional(),
    priority: z.enum(['standard', 'priority']).default('standard'),
    timeout_seconds: z.int().min(1).max(TIMEOUT_SECONDS.max).optional(),
    /** The version of the agent to run; absent: the latest. A listing has the number of the version that it shows. */
    version: z.int().min(1).max(1_000_000).optional(),
    /** Hears of the end of this run; the wallet's webhook without `url` signs for it. */
    callback_url: runCallback.shape.url.optional(),
    /** Which events of the run `callback_url` hears of; absent: all. */
    callback_events: runCallback.shape.events,
  })
  .meta({ id: 'Execute' });
export type ExecuteBody = z.input<typeof executeBody>;

/** An `Idempotency-Key`: visible ASCII without spaces. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 visible ASCII characters');

/** Longest `wait` of the `Prefer` header, in seconds; a longer one is cut to it. */
export const MAX_WAIT_SECONDS = 60;

/** Longest `window` of an `Idempotency-Key`, in seconds; a longer one is cut to it. */
export const MAX_KEY_WINDOW_SECONDS = 3_600;

/** The output of an agent: text, or an object of its declared output schema. */
export const runOutput = jsonValue;

/** Marks an answer that an earlier, equal request has paid for. This request is not charged. */
const joined = z
  .object({ begun_seconds_ago: z.int().min(0) })
  .meta({
    id: 'JoinedRun',
    description: 'An earlier, equal request has paid for this run. This request is not charged.',
  })
  .optional();

/** Marks a free run without a rental. */
const trial = z.boolean().optional();

/** A finished run. `failed` is the agent's failure and still an HTTP 200 (spec, execute rule 1). */
export const run = z
  .object({
    run_id: z.string(),
    agent_id: listingId,
    status: z.enum(['completed', 'failed']),
    output: runOutput,
    cost_lamports: lamports,
    duration_ms: z.int(),
    joined,
    trial,
  })
  .meta({ id: 'Run' });
export type Run = z.infer<typeof run>;

/** A run whose end is not known yet. */
export const runningRun = z
  .object({ run_id: z.string(), agent_id: listingId, status: z.literal('running'), joined })
  .meta({ id: 'RunningRun' });
export type RunningRun = z.infer<typeof runningRun>;

/**
 * Steps of a run that goes on. `queued`: it waits for a place. `started`: it has one. `charging`: its charge is on the way
 * to Solana. `charged`: the charge is confirmed. `held`: the agent has ended, and the output waits for the charge.
 */
export const RUN_STEPS = ['queued', 'started', 'charging', 'charged', 'held'] as const;
export type RunStep = (typeof RUN_STEPS)[number];

/** The label of the API key, or the name of the app, that began a run. Absent for the login of its wallet. */
const apiKeyLabel = z.string().optional();

/**
 * State of a run.
 *
 * - An undelivered run is `failed`, costs nothing and has an `error`. The service could not serve it after its start.
 * - `stop_reason` of a stopped run: `cancelled` by its wallet, or `caller_left` after its last caller left.
 * - `credited` of an undelivered run: true once a free run replaces its charge. The credit may wait for the final charge.
 */
export const runState = z
  .union([
    runningRun
      .extend({
        api_key_label: apiKeyLabel,
        started_at: timestamp.optional(),
        step: z.enum(RUN_STEPS).optional(),
      })
      .meta({ id: 'RunProgress' }),
    run
      .extend({
        api_key_label: apiKeyLabel,
        error: errorEnvelope.shape.error.optional(),
        stop_reason: z.enum(['cancelled', 'caller_left']).optional(),
        credited: z.boolean().optional(),
      })
      .meta({ id: 'EndedRun' }),
  ])
  .meta({ id: 'RunState' });
export type RunState = z.infer<typeof runState>;
/** A run that has ended, as `GET /v1/runs/:run_id` answers. */
export type EndedRun = Exclude<RunState, { status: 'running' }>;

/** Query of `GET /v1/runs`. */
export const listRunsQuery = z.strictObject({ agent_id: listingId.optional(), ...cursorPage });

/** A run without its output, as a list shows it. */
export const runSummary = z
  .object({
    run_id: z.string(),
    agent_id: listingId,
    status: z.enum(['running', 'completed', 'failed', 'undelivered']),
    cost_lamports: lamports,
    duration_ms: z.int().nullable(),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'RunSummary' });
export type RunSummary = z.infer<typeof runSummary>;

/** Answer of `GET /v1/runs`, newest first. */
export const listRunsResponse = z
  .object({ runs: z.array(runSummary), total: z.int(), limit: z.int(), offset: z.int(), ...pageEnd })
  .meta({ id: 'RunPage' });

/** Body of `POST /v1/runs/cancel`: for a caller who has no run id yet. */
export const cancelByKeyBody = z
  .strictObject({ idempotency_key: idempotencyKey })
  .meta({ id: 'CancelByKey' });

/**
 * Answer to a cancel. `cancelled` is false where the run had already ended. `run` is absent where no request under the key
 * has come yet. A later request is refused and not charged.
 */
export const cancellation = z
  .object({ cancelled: z.boolean(), run: runState.optional() })
  .meta({ id: 'Cancellation' });
export type Cancellation = z.infer<typeof cancellation>;

/** `data` of the stream's `output` event. */
export const outputEvent = z.object({ delta: z.string() }).meta({ id: 'OutputEvent' });

/** `data` of the stream's last event, `done`. */
export const doneEvent = z
  .object({
    run_id: z.string(),
    status: z.enum(['completed', 'failed']),
    cost_lamports: lamports,
    duration_ms: z.int(),
    output: runOutput,
    joined,
    trial,
    error: errorEnvelope.shape.error.optional(),
  })
  .meta({ id: 'DoneEvent' });
export type DoneEvent = z.infer<typeof doneEvent>;

/** One event of `POST /v1/execute/stream`. */
export type RunEvent =
  | { event: 'output'; data: z.infer<typeof outputEvent> }
  | { event: 'done'; data: DoneEvent };

/**
 * The function-calling form of the execute request (spec, "POST /v1/execute"): how a rented agent is
 * registered as a tool in a framework.
 */
export const toolRequest = z.object({
  agent_id: z.string().describe('Id of the rented listing.'),
  task: z.string().describe('The task for the agent, in plain language.'),
  input: jsonObject.optional().describe("Input in the shape of the agent's input_schema."),
});
