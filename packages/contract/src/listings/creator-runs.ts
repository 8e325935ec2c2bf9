import * as z from 'zod';
import { JSON_BOUNDS } from '../json-text.js';
import { cursorPage, pageEnd, timestamp } from '../primitives.js';

/** The fault of an output beyond the bounds of JSON, to follow its name. */
export const TOO_LARGE =
  `has more than ${JSON_BOUNDS.bytes} bytes as JSON, or more than ${JSON_BOUNDS.values} values. ` +
  'Return the address of a file for more';

/** Classes of failed runs, with the text for the creator. An HTTP status follows in the message, where there is one. */
export const RUN_FAILURES = {
  model_refused: 'The model refused the request',
  model_unreachable: 'The model could not be reached',
  endpoint_refused: 'The endpoint refused the task',
  endpoint_unreachable: 'The endpoint could not be reached',
  endpoint_broke_off: 'The connection to the endpoint broke while it worked',
  answer_malformed:
    'The answer of the endpoint is too large, broke off, or is neither JSON nor a stream of output and done',
  answer_too_large: `The answer of the endpoint ${TOO_LARGE}`,
  answer_broke_off: 'The answer of the endpoint broke off, or its stream ended before an event done',
  answer_not_json:
    'The answer of the endpoint is not JSON. Text may come as text/plain where output_schema has the type string',
  answer_too_deep: `The answer of the endpoint is nested deeper than ${JSON_BOUNDS.depth} levels`,
  answer_number:
    'The answer of the endpoint has a number that would change, for example an integer beyond 2^53. Send it as text, in quotes',
  stream_event:
    'An event of the stream has another form than output with {"delta": "…"}, or done with {"output": …, "status": "completed"}',
  stream_output: 'The output of done does not begin with the deltas of the stream',
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

/** The cause of a failed run. It holds no part of the input or output. */
export const runFailure = z
  .object({
    class: z.enum(RUN_FAILURE_CLASSES),
    /** The HTTP status of the model's vendor or of the endpoint, where there was one. */
    http_status: z.int().optional(),
    message: z.string(),
  })
  .meta({ id: 'RunFailure' });
export type RunFailure = z.infer<typeof runFailure>;

/** Query of `GET /v1/agents/:listing_id/runs`. */
export const listAgentRunsQuery = z.strictObject(cursorPage);

/** A run of an own listing, as its creator sees it: without the renter, the input and the output. */
export const agentRun = z
  .object({
    run_id: z.string(),
    /** `undelivered`: the service could not serve the run, and its renter pays nothing. */
    status: z.enum(['running', 'completed', 'failed', 'undelivered']),
    /** The version that ran. */
    version: z.int().min(1),
    /** Null for running and undelivered runs. */
    duration_ms: z.int().nullable(),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
    /** Null for running and completed runs. */
    failure: runFailure.nullable(),
  })
  .meta({ id: 'AgentRun' });
export type AgentRun = z.infer<typeof agentRun>;

/** Answer of `GET /v1/agents/:listing_id/runs`, newest first. */
export const listAgentRunsResponse = z
  .object({ runs: z.array(agentRun), total: z.int(), limit: z.int(), offset: z.int(), ...pageEnd })
  .meta({ id: 'AgentRunPage' });
