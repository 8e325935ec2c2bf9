import { z } from 'zod';
import { errorEnvelope } from './errors.js';
import { TIMEOUT_SECONDS } from './manifest.js';
import { lamports, listingId } from './primitives.js';

/** Body of `POST /v1/execute` and `/v1/execute/stream`. */
export const executeBody = z
  .strictObject({
    agent_id: z.string().max(200),
    task: z.string().min(1).max(100_000),
    input: z.union([z.string(), z.record(z.string(), z.json())]).optional(),
    input_uri: z.string().max(500).optional(),
    priority: z.enum(['standard', 'priority']).default('standard'),
    timeout_seconds: z.int().min(1).max(TIMEOUT_SECONDS.max).optional(),
  })
  .meta({ id: 'Execute' });
export type ExecuteBody = z.input<typeof executeBody>;

/** What an agent returns: text, or an object of its declared output schema. */
export const runOutput = z.json();

/** A finished run. `failed` is the agent's failure and still an HTTP 200 (spec, execute rule 1). */
export const run = z
  .object({
    run_id: z.string(),
    agent_id: listingId,
    status: z.enum(['completed', 'failed']),
    output: runOutput,
    cost_lamports: lamports,
    duration_ms: z.int(),
  })
  .meta({ id: 'Run' });
export type Run = z.infer<typeof run>;

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
  task: z.string().describe('What the agent is to do, in plain language.'),
  input: z
    .record(z.string(), z.json())
    .optional()
    .describe("Input in the shape of the agent's input_schema."),
});
