import { operations, type JsonObject, type ToolFormat } from '@agent-rental/contract';
import { createClient } from '@agent-rental/sdk';
import { DirectToolCache, rentedDefinitions, type DirectToolDefinition } from '@agent-rental/tools';
import type { FastifyInstance } from 'fastify';
import type { InternalRequests } from './platform/internal-requests.js';
import { addOperation } from './platform/operation-route.js';

/** Never resolved: requests to it stay in this process. */
const INTERNAL_URL = 'http://marketplace.invalid';

/**
 * `GET /v1/tools`: the caller's rentals as function definitions. They are made by the same compiler, under the same
 * names, as those of every adapter, over an sdk client whose requests stay in this process.
 */
export function toolRoutes(
  app: FastifyInstance,
  { internalRequests }: { internalRequests: InternalRequests },
): void {
  const cache = new DirectToolCache();
  addOperation(app, operations.listTools, async ({ principal, query }) => {
    const { format, limit, offset } = query;
    const client = createClient({
      baseUrl: INTERNAL_URL,
      apiKey: 'carried-by-the-channel',
      fetch: internalRequests.fetchAs(app, principal),
      retries: 0,
    });
    const { definitions, total } = await rentedDefinitions(client, cache, { limit, offset });
    return { format, tools: definitions.map(written[format]), total, limit, offset };
  });
}

/** One definition in each form that models and frameworks take. */
const written: Record<ToolFormat, (tool: DirectToolDefinition) => JsonObject> = {
  openai: ({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }),
  openai_responses: ({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    parameters: inputSchema,
    // Strict mode wants every property required; `input` is not.
    strict: false,
  }),
  anthropic: ({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }),
  gemini: ({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema }),
  mcp: ({ name, title, description, inputSchema }) => ({ name, title, description, inputSchema }),
  json_schema: ({ name, description, inputSchema }) => ({ title: name, description, ...inputSchema }),
};
