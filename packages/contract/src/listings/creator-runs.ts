import * as z from 'zod';
import { cursorPage, pageEnd, timestamp } from '../primitives.js';

/** Why runs fail, with what a creator is told of each. Where there is an HTTP status, it follows in the message. */
export const RUN_FAILURES = {
  model_refused: 'The model refused the request',
  model_unreachable: 'The model could not be reached',
  endpoint_refused: 'The endpoint refused the task',
  endpoint_unreachable: 'The endpoint could not be reached',
  endpoint_broke_off: 'The connection to the endpoint broke while it worked',
  answer_malformed:
    'The answer of the endpoint is too large, broke off, or is neither JSON nor a stream of output and done',
  output_schema: 'The output does not follow output_schema',
  task_failed: 'The agent could not do the task',
  timed_out: 'The agent did not finish in time',
  stopped: 'The renter stopped the run, or went away',
  refused: 'The run was refused before the agent began',
  service_fault: 'A fault of the service; it is not the failure of the agent',
  unknown: 'The reason is not on record',
} as const;

/** Class of a failure. */
export type RunFailureClass = keyof typeof RUN_FAILURES;
export const RUN_FAILURE_CLASSES = Object.keys(RUN_FAILURES) as [RunFailureClass, ...RunFailureClass[]];

/** Why a run failed, without anything of its input or output. */
export const runFailure = z
  .object({
    class: z.enum(RUN_FAILURE_CLASSES),
    /** What the model's vendor or the endpoint answered, where it was a status. */
    http_status: z.int().optional(),
    message: z.string(),
  })
  .meta({ id: 'RunFailure' });
export type RunFailure = z.infer<typeof runFailure>;

/** Query of `GET /v1/agents/:listing_id/runs`. */
export const listAgentRunsQuery = z.strictObject(cursorPage);

/** A run of an own listing, as its creator sees it: nothing of who asked, of what was asked and of what was answered. */
export const agentRun = z
  .object({
    run_id: z.string(),
    /** `undelivered`: it could not be served, and costs its renter nothing. */
    status: z.enum(['running', 'completed', 'failed', 'undelivered']),
    /** The version that ran. */
    version: z.int().min(1),
    /** Null while it runs, and where it could not be served. */
    duration_ms: z.int().nullable(),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
    /** Null while it runs, and where it is completed. */
    failure: runFailure.nullable(),
  })
  .meta({ id: 'AgentRun' });
export type AgentRun = z.infer<typeof agentRun>;

/** Answer of `GET /v1/agents/:listing_id/runs`, newest first. */
export const listAgentRunsResponse = z
  .object({ runs: z.array(agentRun), total: z.int(), limit: z.int(), offset: z.int(), ...pageEnd })
  .meta({ id: 'AgentRunPage' });
