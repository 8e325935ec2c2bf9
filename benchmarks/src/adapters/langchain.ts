import type { JsonObject } from '@agent-rental/contract';
import { rentedTools } from '@agent-rental/langchain';
import { createClient } from '@agent-rental/sdk';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import { bareRentals, bareTool } from './bare-rentals.js';
import { ownCpuMs, type Framework, type GivenTool } from './leg.js';

/** LangChain: `rentedTools` against `DynamicStructuredTool` over `fetch`; a model's package writes both as functions. */
export function langchain(alwaysThere: readonly GivenTool[]): Framework {
  return {
    name: 'LangChain',
    isBuiltHere: true,
    ours: {
      async list({ baseUrl, token }, limit) {
        const tools = await rentedTools(createClient({ baseUrl, apiKey: token }), { limit });
        return tools.map((tool) => convertToOpenAITool(tool) as unknown as JsonObject);
      },
      cpuMs: ownCpuMs,
    },
    floor: {
      async list(caller, limit) {
        const rentals = await bareRentals(caller, limit, '&include=listing');
        const tools = [...alwaysThere, ...rentals.map(bareTool)].map(
          ({ name, description, inputSchema: schema }) =>
            new DynamicStructuredTool({ name, description, schema, func: async () => name }),
        );
        return tools.map((tool) => convertToOpenAITool(tool) as unknown as JsonObject);
      },
      cpuMs: ownCpuMs,
    },
  };
}
