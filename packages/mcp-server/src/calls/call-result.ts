import { outputJson, RESULT_KEPT_HOURS, RESULT_MAX_BYTES, type ToolResult } from '@agent-rental/tools';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { splitFiles } from '../content/output-files.js';
import { receiptUri, runUri } from '../content/resources.js';

/** Keys of `_meta` in results. */
export const RUN_META_KEY = 'agent-rental/run';
export const ERROR_META_KEY = 'agent-rental/error';

/**
 * A tool's result for MCP. The agent's output and the marketplace's line about the run are separate text blocks, so that an
 * output cannot imitate the line. Files of an output are blocks between the two.
 */
export function toCallResult(result: ToolResult): CallToolResult {
  const meta = metaOf(result);
  const { text, structured, files, isCut } = outputOf(result);
  const content: ContentBlock[] = [
    ...(text === '' ? [] : [textBlock(text)]),
    ...files,
    ...(isCut && result.runId !== undefined ? [linkTo(result.runId)] : []),
    ...(result.note === undefined ? [] : [textBlock(result.note)]),
  ];
  return {
    content,
    // A cut output must not be whole in the structured content.
    ...(structured === undefined || isCut ? {} : { structuredContent: withRun(structured, result) }),
    ...(result.status === 'completed' || result.status === 'running' ? {} : { isError: true }),
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
  };
}

/**
 * Adds the marketplace's facts about a run to the structured content: some hosts show only this to their models. The facts
 * are beside the output, so that the output follows the creator's schema.
 */
function withRun(structured: Record<string, unknown>, result: ToolResult): Record<string, unknown> {
  const { runId, costLamports, note } = result;
  if (runId === undefined) return structured;
  return {
    output: structured,
    run: {
      run_id: runId,
      ...(costLamports === undefined ? {} : { cost_lamports: costLamports, charged: costLamports > 0 }),
      ...(note === undefined ? {} : { note }),
    },
  };
}

interface ShownOutput {
  readonly text: string;
  readonly structured: Record<string, unknown> | undefined;
  readonly files: readonly ContentBlock[];
  /** Only a part of the output is shown. */
  readonly isCut: boolean;
}

function outputOf({ status, text, structured, nextOffset, runId }: ToolResult): ShownOutput {
  const asIs: ShownOutput = { text, structured, files: [], isCut: nextOffset !== undefined };
  if (status !== 'completed' || runId === undefined || (structured === undefined && asIs.isCut)) return asIs;
  const { value, files } = splitFiles(structured ?? text, runId);
  if (files.length === 0) return asIs;
  // An output that is only a file needs no text.
  if (structured === undefined) return { text: '', structured, files, isCut: false };
  const rest = outputJson(value);
  // Without files the output may be short enough.
  if (Buffer.byteLength(rest) > RESULT_MAX_BYTES) return asIs;
  return { text: rest, structured: value as Record<string, unknown>, files, isCut: false };
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}

function linkTo(runId: string): ContentBlock {
  return {
    type: 'resource_link',
    name: runId,
    uri: runUri(runId),
    title: 'Whole output of the run',
    description: `The agent's output, for ${RESULT_KEPT_HOURS} hours.`,
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
      ...(result.costLamports === undefined ? {} : { receipt_uri: receiptUri(result.runId) }),
    };
  }
  if (result.error !== undefined) {
    const { code, status, requestId, retryAfterSeconds, ownerApproval, payPerCall } = result.error;
    meta[ERROR_META_KEY] = {
      code,
      status,
      request_id: requestId,
      retry_after_seconds: retryAfterSeconds,
      ...(ownerApproval === undefined ? {} : { approval_url: ownerApproval.url }),
      ...(payPerCall === undefined
        ? {}
        : { pay_per_call: { url: payPerCall.url, price_lamports: payPerCall.priceLamports } }),
    };
  }
  return meta;
}
