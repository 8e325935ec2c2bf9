import type { ToolResult } from '@agent-rental/tools';
import type { CallToolResult } from '@modelcontextprotocol/server';

/** Keys of `_meta` in results. */
export const RUN_META_KEY = 'agent-rental/run';
export const ERROR_META_KEY = 'agent-rental/error';

/**
 * A tool's result in the words of MCP. The agent's output is one text block of its own, and the
 * marketplace's line about the run another, so that no output can be taken for it.
 */
export function toCallResult(result: ToolResult): CallToolResult {
  const content = [result.text, result.note].filter((text) => text !== undefined);
  const meta = metaOf(result);
  // What is cut for being too long must not come back whole beside it.
  const structured = result.nextOffset === undefined ? result.structured : undefined;
  return {
    content: content.map((text) => ({ type: 'text' as const, text })),
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(result.status === 'completed' ? {} : { isError: true }),
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
  };
}

function metaOf(result: ToolResult): Record<string, unknown> {
  const meta: Record<string, unknown> = {};
  if (result.runId !== undefined) {
    meta[RUN_META_KEY] = {
      run_id: result.runId,
      agent_id: result.agentId,
      status: result.status,
      cost_lamports: result.costLamports,
      duration_ms: result.durationMs,
    };
  }
  if (result.error !== undefined) {
    const { code, status, requestId, retryAfterSeconds } = result.error;
    meta[ERROR_META_KEY] = { code, status, request_id: requestId, retry_after_seconds: retryAfterSeconds };
  }
  return meta;
}
