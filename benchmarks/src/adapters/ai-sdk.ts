import { rentedTools } from '@agent-rental/ai-sdk';
import type { JsonObject } from '@agent-rental/contract';
import { createClient } from '@agent-rental/sdk';
import { generateText, jsonSchema, tool, type ToolSet } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { bareRentals, bareTool } from './bare-rentals.js';
import type { Framework, GivenTool } from './framework.js';

/** The AI SDK: `rentedTools` against `tool` over `fetch`, both in a step of `generateText`. */
export function aiSdk(alwaysThere: readonly GivenTool[]): Framework {
  return {
    name: 'AI SDK',
    isBuiltHere: true,
    ours: async ({ baseUrl, token }, limit) =>
      givenToModel(await rentedTools(createClient({ baseUrl, apiKey: token }), { limit })),
    async floor(caller, limit) {
      const rentals = await bareRentals(caller, limit, '&include=listing');
      const tools = [...alwaysThere, ...rentals.map(bareTool)].map(({ name, description, inputSchema }) => [
        name,
        tool({ description, inputSchema: jsonSchema(inputSchema), execute: async () => name }),
      ]);
      return givenToModel(Object.fromEntries(tools) as ToolSet);
    },
  };
}

/** The tools that a model gets in a step. */
async function givenToModel(tools: ToolSet): Promise<JsonObject[]> {
  const model = new MockLanguageModelV3({
    doGenerate: {
      content: [{ type: 'text', text: 'Done.' }],
      finishReason: { unified: 'stop', raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    },
  });
  await generateText({ model, tools, prompt: 'Go.' });
  return (model.doGenerateCalls[0]?.tools ?? []) as unknown as JsonObject[];
}
