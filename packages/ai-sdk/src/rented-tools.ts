import type { RentalClient } from '@agent-rental/sdk';
import {
  memoryLedger,
  modelText,
  rentedToolset,
  type Approve,
  type QuestionLedger,
  type RentedTool,
  type ToolResult,
  type ToolsetOptions,
} from '@agent-rental/tools';
import { jsonSchema, tool, type Tool } from 'ai';
import { keepAsked, wasAsked } from './asked-before.js';
import { callScope } from './call-scope.js';

/** Options of {@link rentedTools}: the common options of toolsets, and options for the AI SDK. */
export interface RentedToolsOptions extends Omit<ToolsetOptions, 'cache'> {
  /**
   * Names the conversation. A repeated tool call in it is one run, paid once, also from another process. Default: every
   * `generateText` or `streamText` call is a separate conversation.
   */
  readonly scope?: string | undefined;
  /**
   * Calls that need a person's approval in addition to the policy. Default: rentals, but no runs.
   */
  readonly approval?: ApprovalOptions | undefined;
}

/** Which calls need a person's approval. */
export interface ApprovalOptions {
  /** Ask before a call that may rent an agent. Default true. */
  readonly renting?: boolean | undefined;
  /** Ask before a run that charges more lamports, or an unknown amount. Default: never. */
  readonly runAboveLamports?: number | undefined;
}

/** A preliminary result: the output so far. */
export interface RunningToolResult {
  readonly status: 'running';
  readonly text: string;
}

/** The output of a tool: preliminary results while it runs, then the result. */
export type RentedToolOutput = ToolResult | RunningToolResult;

/** One tool of the AI SDK. */
export type RentedAiTool = Tool<Record<string, unknown>, RentedToolOutput>;

/** A `ToolSet` of the AI SDK with typed results. */
export type RentedToolSet = Record<string, RentedAiTool>;

/** Shortest time between two preliminary results. Each one repeats the output so far. */
const PRELIMINARY_INTERVAL_MS = 100;

/**
 * A client's rented agents as a tool set of the AI SDK, with the fixed tools. It works in `generateText`, `streamText` and
 * agents, of versions 6 and 7.
 *
 * @throws ApiError or ConnectionError if the rentals cannot be listed.
 */
export async function rentedTools(
  client: RentalClient,
  options: RentedToolsOptions = {},
): Promise<RentedToolSet> {
  const scopeOf = callScope(options.scope);
  const { ledger = memoryLedger() } = options;
  const tools = await rentedToolset(client, { ...options, ledger }).list();
  return Object.fromEntries(
    tools.map((rented) => [rented.name, toAiTool(rented, scopeOf, options, ledger.questions)]),
  );
}

function toAiTool(
  rented: RentedTool,
  scopeOf: (messages: readonly unknown[] | undefined) => string,
  options: RentedToolsOptions,
  questions: QuestionLedger,
): RentedAiTool {
  return tool({
    title: rented.title,
    description: rented.description,
    inputSchema: jsonSchema<Record<string, unknown>>(rented.inputSchema, { validate: validateObject }),
    needsApproval: async (args: Record<string, unknown>, { toolCallId }) =>
      needsApproval(rented, args, options, { questions, toolCallId }),
    async *execute(
      args: Record<string, unknown>,
      { toolCallId, abortSignal, messages },
    ): AsyncGenerator<RentedToolOutput> {
      const call = { scope: scopeOf(messages), toolCallId };
      // The SDK calls a tool that needs approval only after a person's approval.
      const approve: Approve = options.approve ?? ((request) => wasAsked(questions, toolCallId, request));
      const stream = rented.stream(args, { signal: abortSignal, call, approve });
      let text = '';
      let shownAtMs = Number.NEGATIVE_INFINITY;
      try {
        let next = await stream.next();
        for (; !next.done; next = await stream.next()) {
          text += next.value;
          const nowMs = performance.now();
          if (nowMs - shownAtMs < PRELIMINARY_INTERVAL_MS) continue;
          shownAtMs = nowMs;
          yield { status: 'running', text };
        }
        yield next.value;
      } finally {
        // A consumer that stops reading cancels the run.
        await stream.return(undefined as never);
      }
    },
    toModelOutput: ({ output }) => {
      const value = output.status === 'running' ? output.text : modelText(output);
      const failed = output.status === 'failed' || output.status === 'error';
      return { type: failed ? 'error-text' : 'text', value };
    },
  });
}

async function needsApproval(
  rented: RentedTool,
  args: Record<string, unknown>,
  { approval = {}, approve }: RentedToolsOptions,
  { questions, toolCallId }: { questions: QuestionLedger; toolCallId: string },
): Promise<boolean> {
  // With `approve`, the tool asks inside the call.
  const request = approve === undefined ? await rented.approvalOf?.(args) : undefined;
  if (request !== undefined) {
    await keepAsked(questions, toolCallId, request);
    return true;
  }
  const { renting = true, runAboveLamports } = approval;
  const { kind, lamports } = await rented.spending(args);
  if (kind === 'rental') return renting;
  if (kind === 'nothing' || runAboveLamports === undefined) return false;
  return lamports === undefined || lamports > runAboveLamports;
}

/** Checks only for an object: the tool checks and repairs its arguments itself. */
function validateObject(
  value: unknown,
): { success: true; value: Record<string, unknown> } | { success: false; error: Error } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { success: true, value: value as Record<string, unknown> };
  }
  return { success: false, error: new TypeError('The arguments are not an object.') };
}
