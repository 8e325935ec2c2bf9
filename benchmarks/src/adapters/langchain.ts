import type { JsonObject } from '@agent-rental/contract';
import { rentedTools } from '@agent-rental/langchain';
import { createClient } from '@agent-rental/sdk';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import { bareRentals, bareTool } from './bare-rentals.js';
import type { Framework, GivenTool } from './framework.js';

/** LangChain: `rentedTools` against `DynamicStructuredTool` over `fetch`, both converted to OpenAI's format. */
export function langchain(alwaysThere: readonly GivenTool[]): Framework {
  return {
    name: 'LangChain',
    isBuiltHere: true,
    async ours({ baseUrl, token }, limit) {
      const tools = await rentedTools(createClient({ baseUrl, apiKey: token }), { limit });
      return tools.map((tool) => convertToOpenAITool(tool) as unknown as JsonObject);
    },
    async floor(caller, limit) {
      const rentals = await bareRentals(caller, limit, '&include=listing');
      const tools = [...alwaysThere, ...rentals.map(bareTool)].map(
        ({ name, description, inputSchema: schema }) =>
          new DynamicStructuredTool({ name, description, schema, func: async () => name }),
      );
      return tools.map((tool) => convertToOpenAITool(tool) as unknown as JsonObject);
    },
  };
}
