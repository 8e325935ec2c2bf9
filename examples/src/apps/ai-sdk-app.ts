/**
 * Gives rented agents to the AI SDK as tools. The model is the AI SDK's mock, so the app runs without a key. It calls one
 * rented agent and says that it is done. Put any language model in its place.
 *
 *   node examples/dist/apps/ai-sdk-app.js
 */
import { readFile } from 'node:fs/promises';
import { rentedTools } from '@agent-rental/ai-sdk';
import { createClient } from '@agent-rental/sdk';
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { print, readDevState, sampleRequest } from './dev-state.js';

const state = await readDevState();
const apiKey = (await readFile(state.api_key_file, 'utf8')).trim();
const tools = await rentedTools(createClient({ baseUrl: state.base_url, apiKey }));
print(`Tools: ${Object.keys(tools).join(', ')}`);

const request = await sampleRequest(state, 'source-reviewer');
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const call = {
  type: 'tool-call' as const,
  toolCallId: 'call_1',
  toolName: request.agent_id.replaceAll('-', '_'),
  input: JSON.stringify(request),
};
const model = new MockLanguageModelV3({
  doGenerate: [
    { content: [call], finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] },
    {
      content: [{ type: 'text', text: 'The file is reviewed.' }],
      finishReason: { unified: 'stop', raw: undefined },
      usage,
      warnings: [],
    },
  ],
});

const { text, steps } = await generateText({
  model,
  tools,
  prompt: 'Review this file.',
  stopWhen: stepCountIs(3),
});

const output = steps.flatMap((step) => step.toolResults)[0]?.output as
  | { status: string; text: string }
  | undefined;
print(output?.text ?? 'The tool was not called.');
print(text);
if (output?.status !== 'completed') process.exitCode = 1;
