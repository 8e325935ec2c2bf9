import { operations, type JsonObject, type ToolFormat } from '@agent-rental/contract';
import { createClient, isApiError } from '@agent-rental/sdk';
import {
  compileInput,
  DirectToolCache,
  rentedDefinitions,
  type DirectToolDefinition,
} from '@agent-rental/tools';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.js';
import type { InternalRequests } from '../internal-requests.js';
import { addOperation } from '../operation-route.js';
import type { Principal } from '../../access/principal.js';

/** Never resolved: requests to it stay in this process. */
const INTERNAL_URL = 'http://marketplace.invalid';

/**
 * `GET /v1/tools`: the caller's rentals as function definitions. The adapters' compiler makes them, under the same names,
 * over an sdk client whose requests stay in this process.
 */
export function toolRoutes(
  app: FastifyInstance,
  {
    internalRequests,
    hasPins,
  }: { internalRequests: InternalRequests; hasPins: (principal: Principal) => Promise<boolean> },
): void {
  const shared = new DirectToolCache();
  addOperation(app, operations.listTools, async ({ principal, query }) => {
    const { format, ...page } = query;
    const client = createClient({
      baseUrl: INTERNAL_URL,
      apiKey: 'carried-by-the-channel',
      fetch: internalRequests.fetchAs(app, principal),
      retries: 0,
    });
    // A caller that has pinned versions is shown other definitions than the others.
    const cache = (await hasPins(principal)) ? new DirectToolCache() : shared;
    const { definitions, total, end } = await rentedDefinitions(client, cache, page).catch(
      (error: unknown) => {
        throw isApiError(error) ? new ApiError(error.code, error.message, { cause: error }) : error;
      },
    );
    const { limit, offset } = page;
    return { format, tools: written[format](definitions), total, limit, offset, ...end };
  });
}

/** Reads an input that follows a definition of these; gives it unchanged where it cannot be read so. */
export function readPublishedInput(schema: object, input: unknown): unknown {
  try {
    return compileInput(schema).read(input);
  } catch {
    return input;
  }
}

/** Definitions as each kind of request to a model takes them in its `tools`, and as MCP lists them. */
const written: Record<ToolFormat, (tools: readonly DirectToolDefinition[]) => JsonObject[]> = {
  // Chat completions.
  openai: (tools) =>
    tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
  openai_responses: (tools) =>
    tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description,
      parameters: inputSchema,
      // Strict mode wants every property required; `input` is not.
      strict: false,
    })),
  anthropic: (tools) =>
    tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
  // All functions are one tool; one without functions is refused.
  gemini: (tools) =>
    tools.length === 0
      ? []
      : [
          {
            functionDeclarations: tools.map(({ name, description, inputSchema }) => ({
              name,
              description,
              parameters: inputSchema,
            })),
          },
        ],
  mcp: (tools) =>
    tools.map(({ name, title, description, inputSchema }) => ({ name, title, description, inputSchema })),
  json_schema: (tools) =>
    tools.map(({ name, description, inputSchema }) => ({ title: name, description, ...inputSchema })),
};
