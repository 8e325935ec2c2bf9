import * as z from 'zod';
import { cursorPage, jsonObject, pageEnd } from '../primitives.js';

/** Forms in which function definitions are given. */
export const TOOL_FORMATS = [
  'openai',
  'openai_responses',
  'anthropic',
  'gemini',
  'mcp',
  'json_schema',
] as const;
export const toolFormat = z.enum(TOOL_FORMATS).meta({ id: 'ToolFormat' });
export type ToolFormat = z.infer<typeof toolFormat>;

/** The tools that need no rental, and the spending of each call. */
export const ALWAYS_THERE_TOOLS = {
  search_listings: { spends: 'nothing' },
  get_listing: { spends: 'nothing' },
  rent_listing: { spends: 'rental' },
  hire: { spends: 'rental' },
  list_rentals: { spends: 'nothing' },
  run_agent: { spends: 'run' },
  get_run: { spends: 'nothing' },
  cancel_run: { spends: 'nothing' },
} as const satisfies Readonly<Record<string, { readonly spends: 'nothing' | 'run' | 'rental' }>>;

/** Name of a tool that needs no rental. No tool of a rental has such a name. */
export type AlwaysThereToolName = keyof typeof ALWAYS_THERE_TOOLS;

/** Query of `GET /v1/tools`. */
export const listToolsQuery = z.strictObject({ format: toolFormat.default('openai'), ...cursorPage });

/**
 * Answer of `GET /v1/tools`: the current rentals as function definitions, in the requested format. Use all of `tools` as
 * `tools` of a request to a model. The arguments of a call are a body of `POST /v1/execute`.
 */
export const listToolsResponse = z
  .object({
    format: toolFormat,
    tools: z.array(jsonObject),
    /** The number of current rentals. */
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    ...pageEnd,
  })
  .meta({ id: 'ToolPage' });
