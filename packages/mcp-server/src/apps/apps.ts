import { isApiError, type RentalClient } from '@agent-rental/sdk';
import { resultOfError } from '@agent-rental/tools';
import {
  CLIENT_CAPABILITIES_META_KEY,
  ResourceNotFoundError,
  type CallToolResult,
  type ReadResourceResult,
  type Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { ERROR_META_KEY } from '../calls/call-result.js';
import { VIEWS } from './generated/views.js';

/** Name of MCP Apps among a client's extensions (SEP-1865). */
export const APPS_EXTENSION = 'io.modelcontextprotocol/ui';
/** The media type of views. */
export const VIEW_TYPE = 'text/html;profile=mcp-app';
const SCHEME = 'ui://agent-rental/';

/** The tool of the receipt, for clients with Apps alone. */
export const SHOW_RECEIPT = 'show_receipt';

type View = keyof typeof VIEWS;
const uriOf = (view: View): string => `${SCHEME}${view}.html`;

/** Whether the client shows views: declared on the request, or at the start of its session. */
export function declaresApps(server: Server, context: ServerContext): boolean {
  const envelope = context.mcpReq.envelope as
    | Record<string, { extensions?: Record<string, unknown> } | undefined>
    | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const apps = declared?.extensions?.[APPS_EXTENSION] as { mimeTypes?: unknown } | undefined;
  return Array.isArray(apps?.mimeTypes) && apps.mimeTypes.includes(VIEW_TYPE);
}

/** The view of a tool, if it has one. @param runs whether the tool runs agents */
function viewOf(name: string, runs: boolean): View | undefined {
  if (name === 'rent_listing') return 'approval';
  return runs || name === 'get_run' || name === 'cancel_run' ? 'run' : undefined;
}

/** A tool with its view, for a client that shows views. */
export function withView(tool: Tool, runs: boolean): Tool {
  const view = viewOf(tool.name, runs);
  return view === undefined ? tool : { ...tool, _meta: { ui: { resourceUri: uriOf(view) } } };
}

/** The tool that shows a receipt. */
export const RECEIPT_TOOL: Tool = {
  name: SHOW_RECEIPT,
  title: 'Show the receipt of a run',
  description:
    'Shows the signed receipt of an ended run to the user, with its checks: the signature, and the record on-chain. It is free.',
  inputSchema: {
    type: 'object',
    properties: { run_id: { type: 'string', description: 'Id of the run.' } },
    required: ['run_id'],
  },
  annotations: {
    title: 'Show the receipt of a run',
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  _meta: { ui: { resourceUri: uriOf('receipt') } },
};

/** Whether a resource is a view. */
export const isViewUri = (uri: string): boolean => uri.startsWith(SCHEME);

/** Reads a view. It loads nothing: its policy has no address. @throws ResourceNotFoundError for another one */
export function readView(uri: string): ReadResourceResult {
  const view = (Object.keys(VIEWS) as View[]).find((name) => uriOf(name) === uri);
  if (view === undefined) throw new ResourceNotFoundError(uri);
  const meta = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } };
  return { contents: [{ uri, mimeType: VIEW_TYPE, text: VIEWS[view], _meta: meta }] };
}

/** The key of a question to the owner of the wallet in `_meta`, for clients with Apps alone. */
const APPROVAL_META_KEY = 'agent-rental/approval';

/** Adds the facts of a question to the owner of the wallet, for a view: its agent, amount and budget. */
export async function withApproval<Result extends object>(
  client: Pick<RentalClient, 'getApproval'>,
  result: Result & { _meta?: Record<string, unknown> | undefined },
  signal: AbortSignal,
): Promise<Result> {
  const { _meta: meta = {} } = result;
  const error = meta[ERROR_META_KEY] as { approval_url?: string } | undefined;
  const id = error?.approval_url?.split('/').at(-1);
  if (id === undefined) return result;
  try {
    const { kind, lamports, listing_title, api_key_label } = await client.getApproval(id, { signal });
    const asked = { kind, lamports, listing_title, api_key_label };
    return { ...result, _meta: { ...meta, [APPROVAL_META_KEY]: asked } };
  } catch {
    signal.throwIfAborted();
    // The page of the marketplace shows the same.
    return result;
  }
}

/** A check of a receipt. */
interface Check {
  readonly ok: boolean;
  readonly text: string;
}

/** Answers `show_receipt`: the receipt of a run of this caller, verified. */
export async function showReceipt(
  client: RentalClient,
  args: Record<string, unknown> | undefined,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const runId = args?.['run_id'];
  if (typeof runId !== 'string' || runId === '')
    return refusal('[agent-rental] invalid_request: run_id is missing.');
  try {
    const { receipt, checks } = await verified(client, runId, signal);
    const lines = checks.map(({ ok, text }) => `${ok ? 'passed' : 'not passed'}: ${text}`);
    const text = [`[agent-rental] Receipt of run ${runId}.`, ...lines].join('\n');
    return { content: [{ type: 'text', text }], structuredContent: { receipt, checks } };
  } catch (error) {
    signal.throwIfAborted();
    if (!isApiError(error)) throw error;
    return refusal(resultOfError(error).text);
  }
}

const refusal = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true });

async function verified(client: RentalClient, runId: string, signal: AbortSignal) {
  const [answer, jwks, network] = await Promise.all([
    client.getReceipt(runId, { include: 'transaction', signal }),
    client.getReceiptKeys({ signal }),
    client.getNetwork({ signal }),
  ]);
  // The library of the chain is large, and most servers never verify.
  const { verifyReceipt } = await import('@agent-rental/sdk/receipts');
  const { receipt, log, evidence } = answer;
  const isRunOfReceipt = receipt.run_id === runId;
  const checks: Check[] = [{ ok: isRunOfReceipt, text: 'The receipt is about this run.' }];
  const result = await verifyReceipt({
    answer,
    jwks,
    transaction: { meta: { err: null }, transaction: [evidence?.transaction ?? '', 'base64'] },
    authorities: evidence?.authorities ?? [],
    programId: client.programId ?? network.program_id,
  });
  const isSigned = result.ok || !['answer', 'jws', 'program'].includes(result.part);
  checks.push({ ok: isSigned, text: 'A key of the marketplace signed it.' });
  const isWaiting = log.status === 'pending' || (evidence?.transaction ?? null) === null;
  if (result.ok) checks.push({ ok: true, text: `The transaction ${result.log.signature} has it on Solana.` });
  else if (isWaiting && isSigned)
    checks.push({ ok: false, text: 'It is not final on Solana yet. Ask again in a minute.' });
  else checks.push({ ok: false, text: result.reason });
  return { receipt, checks };
}
