import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  type CallToolResult,
  type InputRequest,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Name of MCP's Tasks extension (SEP-2663). The SDK has its headers, but not its types and methods. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The extension's fields of every task. */
export interface Task {
  readonly taskId: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'cancelled' | 'failed';
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  /** From `createdAt` on. */
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
}

/** Answer of `tools/call` in place of a result: the call goes on as a task. */
export type CreateTaskResult = Result & Task & { readonly resultType: 'task' };

/** Answer of `tasks/get`. */
export type DetailedTask = Result &
  Task & {
    readonly result?: CallToolResult;
    readonly error?: { readonly code: number; readonly message: string };
    readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  };

/** Longest accepted id. */
const ID_LENGTH = 8_192;
const taskId = z.string().min(1).max(ID_LENGTH);

/** Parameters of the methods of tasks. The SDK moves the answers of an update into the context. */
export const taskParams = z.object({ taskId });

/** Whether a client has declared the extension on this request. Earlier declarations do not count. */
export function declaresTasks(context: ServerContext): boolean {
  const envelope = context.mcpReq.envelope as
    | Record<string, { extensions?: Record<string, unknown> }>
    | undefined;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY]?.extensions?.[TASKS_EXTENSION] !== undefined;
}

/** @throws MissingRequiredClientCapabilityError for a request without the extension */
export function requireTasks(context: ServerContext): void {
  if (declaresTasks(context)) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}
