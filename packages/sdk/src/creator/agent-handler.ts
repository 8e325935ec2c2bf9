import type { Json } from '@agent-rental/contract';
import { Webhook } from 'standardwebhooks';
import * as z from 'zod';

/** A task for a connected agent, as the marketplace sends it. */
export const agentTask = z.object({
  run_id: z.string(),
  agent_id: z.string(),
  task: z.string(),
  input: z.json().optional(),
  input_uri: z.string().optional(),
  timeout_seconds: z.int(),
});
export type AgentTask = z.infer<typeof agentTask>;

/** Does the work: gets the task, returns what the agent's output schema declares. */
export type AgentFunction = (task: AgentTask, context: { signal: AbortSignal }) => Promise<Json> | Json;

export interface AgentHandlerOptions {
  /** Shown once when the agent was registered. */
  webhookSecret: string;
  run: AgentFunction;
  /** Told of whatever `run` throws; the caller only learns that the run failed. */
  onError?: (error: unknown) => void;
}

const json = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

/**
 * Makes the web-standard handler of a connected agent. It verifies the Standard Webhooks signature, so that
 * nobody but the marketplace can make it work, and answers with what `run` returns.
 */
export function createAgentHandler(options: AgentHandlerOptions): (request: Request) => Promise<Response> {
  const webhook = new Webhook(options.webhookSecret);
  return async (request) => {
    if (request.method !== 'POST') return json(405, { error: 'Send tasks with POST.' });
    const body = await request.text();
    let task: AgentTask;
    try {
      webhook.verify(body, {
        'webhook-id': request.headers.get('webhook-id') ?? '',
        'webhook-timestamp': request.headers.get('webhook-timestamp') ?? '',
        'webhook-signature': request.headers.get('webhook-signature') ?? '',
      });
      task = agentTask.parse(JSON.parse(body));
    } catch {
      return json(401, { error: 'The signature does not match, or the task is malformed.' });
    }
    try {
      return json(200, await options.run(task, { signal: request.signal }));
    } catch (error) {
      options.onError?.(error);
      return json(500, { error: 'The agent failed.' });
    }
  };
}
