import type { FakeAgent } from './fake-agent.js';
import { runProgram } from './run-program.js';
import { webhookHeaders } from './webhook-signature.js';

/** Runs an agent as the marketplace would: through its webhook, or by its model and what the model calls. */
export async function runAgent(agent: FakeAgent, task: string, input: unknown): Promise<unknown> {
  return agent.manifest.entrypoint_url === undefined
    ? runDeclarative(agent, task, input)
    : callWebhook(agent.manifest.entrypoint_url, agent, task, input);
}

async function callWebhook(url: string, agent: FakeAgent, task: string, input: unknown): Promise<unknown> {
  const { listingId: agent_id, webhookSecret = '' } = agent;
  const body = JSON.stringify({ run_id: 'run_1', agent_id, task, input, timeout_seconds: 30 });
  const response = await fetch(url, { method: 'POST', headers: webhookHeaders(webhookSecret, body), body });
  if (!response.ok) throw new Error(`The agent answered ${response.status}.`);
  return response.json();
}

async function runDeclarative(agent: FakeAgent, task: string, input: unknown): Promise<unknown> {
  const { model, system_prompt: content } = agent.manifest;
  const response = await fetch(`${model.endpoint_url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${agent.modelKey}` },
    body: JSON.stringify({
      model: model.model,
      messages: [
        { role: 'system', content },
        { role: 'user', content: task },
      ],
      tools: [{ type: 'function', function: { name: 'run_javascript' } }],
    }),
  });
  if (!response.ok) throw new Error(`The model answered ${response.status}.`);
  const { choices } = (await response.json()) as {
    choices: { message: { tool_calls: { function: { arguments: string } }[] } }[];
  };
  const call = choices[0]?.message.tool_calls[0]?.function.arguments ?? '{}';
  const { code, final } = JSON.parse(call) as { code: string; final: boolean };
  if (!final) throw new Error('The model did not end with the program.');
  return runProgram(code, input, task);
}
