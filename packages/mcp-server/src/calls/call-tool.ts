import { MARKETPLACE_MARK, resultOfError, type RentedTool } from '@agent-rental/tools';
import {
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type Server,
} from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';
import { InputFileError, InputFiles } from '../content/input-file.js';
import type { CallTool, RentalServerOptions } from '../rental-server-options.js';
import type { Tasks } from '../tasks/tasks.js';
import { declaresTasks } from '../tasks/wire.js';
import { approvalOf, type AskedState } from './approvals.js';
import { toCallResult } from './call-result.js';
import { giveUpAtTimeouts } from './client-timeouts.js';
import { elicitationModes } from './elicitation-modes.js';
import { createGiveUps, waitBefore, type GiveUp } from './give-ups.js';
import { askOwner, waitForOwner } from './owner-approval.js';
import { reportProgress } from './progress.js';

/** How long a run is waited for at least, also after a wait for its approval. */
const LEAST_WAIT_MS = 500;

/** What {@link createCallTool} works with. */
interface CallToolParts {
  readonly options: RentalServerOptions & { readonly patienceMs: number };
  readonly server: Server;
  readonly codec: RequestStateCodec<AskedState>;
  /** Absent where the server has no tasks. */
  readonly tasks: Tasks | undefined;
}

/** Makes what answers `tools/call`. */
export function createCallTool({ options, server, codec, tasks }: CallToolParts): CallTool {
  const { toolset, onError, patienceMs, call } = options;
  const files =
    options.inputFolder === undefined ? undefined : new InputFiles(options.client, options.inputFolder);
  const giveUps = options.giveUps ?? createGiveUps();
  /** A server without an HTTP call serves one connection, which is one session. */
  const retrySession = call?.session ?? randomUUID();
  return async (params, context) => {
    const { name } = params;
    const calledAt = performance.now();
    const { signal: connection, _meta: meta } = context.mcpReq;
    let tool: RentedTool | undefined;
    try {
      tool = await toolset.find(name, { signal: connection });
    } catch (error) {
      connection.throwIfAborted();
      onError?.(error);
      return toCallResult(resultOfError(error));
    }
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
    const asTask = tasks !== undefined && declaresTasks(context) ? tasks : undefined;
    let args = params.arguments ?? {};
    const modes = elicitationModes(server, context);
    const approval = await approvalOf({ tool, args, canAsk: modes.form }, context, codec);
    if ('ask' in approval) return (await asTask?.ofQuestion(tool, args)) ?? approval.ask;
    try {
      args = await withInputFile(args, files, connection);
    } catch (error) {
      connection.throwIfAborted();
      return toCallResult(
        error instanceof InputFileError
          ? {
              status: 'error',
              text: `${MARKETPLACE_MARK} ${error.message} Nothing was charged.`,
              error: { code: 'invalid_request' },
            }
          : resultOfError(error),
      );
    }
    const cancelled = call?.cancelled ?? connection;
    let earlier: readonly GiveUp[] = [];
    const given = giveUpAtTimeouts(cancelled, call && connection, {
      receivedAt: call?.receivedAt ?? calledAt,
      earlier: () => earlier.map(({ elapsedMs }) => elapsedMs),
      onGiveUp: (elapsedMs) => {
        giveUps.record(elapsedMs).catch((error: unknown) => onError?.(error));
      },
    });
    // Tasks have no progress, and a call that may become one is short.
    const token = asTask === undefined ? meta?.progressToken : undefined;
    const progress = reportProgress({
      token,
      notify: context.mcpReq.notify,
      heartbeatMs: options.heartbeatMs,
    });
    try {
      if (asTask === undefined && waits(tool)) {
        // Nothing known is no reason to fail: the call waits as for a new caller.
        earlier = await giveUps.recent().catch((error: unknown) => {
          onError?.(error);
          return [];
        });
      }
      const waitMs = waitBefore(earlier, patienceMs);
      const waitedMs = await waitForOwner(options.client, context, waitMs, given.signal);
      const leftMs = waitedMs === 0 ? waitMs : Math.max(waitMs - waitedMs, LEAST_WAIT_MS);
      const result = await tool.invoke(args, {
        signal: given.signal,
        leave: given.leave,
        idempotencyKey: approval.key ?? call?.key,
        // A model's second call may be its host's retry of a first whose answer was lost, or that took too long.
        adoptUndelivered: true,
        retrySession,
        approve: approval.approve,
        patienceMs: asTask?.waitMs ?? leftMs,
        onDelta: progress.output,
        endOnly: token === undefined,
      });
      const asked = await askOwner(result, modes, context, codec);
      if (asked !== undefined) return asked;
      if (asTask !== undefined && result.status === 'running' && result.runId !== undefined)
        return asTask.ofRun(result.runId);
      return toCallResult(result);
    } finally {
      given.clear();
      progress.stop();
    }
  };
}

/** Whether calls of a tool may last as long as a run. */
function waits({ agentId, name }: RentedTool): boolean {
  return agentId !== undefined || name === 'run_agent' || name === 'hire' || name === 'get_run';
}

/** Arguments with the file that they name in its place. */
async function withInputFile(
  { input_file: path, ...args }: Record<string, unknown>,
  files: InputFiles | undefined,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  if (files === undefined || typeof path !== 'string' || path.trim() === '') return args;
  return { ...args, input_uri: await files.send(path.trim(), signal) };
}
