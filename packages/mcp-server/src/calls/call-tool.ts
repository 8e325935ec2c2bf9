import { createDeadline } from '@agent-rental/sdk';
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
import { callbackOf } from './callback.js';
import { toCallResult } from './call-result.js';
import { elicitationModes } from './elicitation-modes.js';
import { runsAgents } from './mcp-tool.js';
import { askOwner, waitForOwner } from './owner-approval.js';
import { withPayments } from './with-payments.js';
import { reportProgress } from './progress.js';

/** Shortest wait for a run, also after a wait for its approval. */
const LEAST_WAIT_MS = 500;

/** The parts that {@link createCallTool} uses. */
interface CallToolParts {
  readonly options: RentalServerOptions & { readonly patienceMs: number };
  readonly server: Server;
  readonly codec: RequestStateCodec<AskedState>;
  /** Absent for a server without tasks. */
  readonly tasks: Tasks | undefined;
}

/** Makes the handler of `tools/call`. */
export function createCallTool({ options, server, codec, tasks }: CallToolParts): CallTool {
  const { toolset, onError, patienceMs, call } = options;
  const files =
    options.inputFolder === undefined ? undefined : new InputFiles(options.client, options.inputFolder);
  /** Without HTTP, a server has one connection, which is one session. */
  const equalCallsOf = call?.caller ?? randomUUID();
  return async (params, context) => {
    const { name } = params;
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
    const callback = callbackOf(meta);
    const isPaid = options.payments?.present(meta) ?? false;
    // A paid run is its payer's: a task would not find it.
    const asTask = tasks !== undefined && !isPaid && declaresTasks(context) ? tasks : undefined;
    let args = params.arguments ?? {};
    if (files !== undefined && runsAgents(tool)) {
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
    }
    const modes = elicitationModes(server, context);
    const approval = await approvalOf({ tool, args, canAsk: modes.form }, context, codec);
    if ('ask' in approval) return (await asTask?.ofQuestion(tool, args, callback)) ?? approval.ask;
    // A cancelled call leaves its run, which goes on for a grace period: clients cancel at their timeout and call again.
    const leaving = createDeadline(undefined, call?.cancelled, connection);
    // Tasks have no progress, and a call that may become a task is short.
    const token = asTask === undefined ? meta?.progressToken : undefined;
    const progress = reportProgress({
      token,
      notify: context.mcpReq.notify,
      heartbeatMs: options.heartbeatMs,
    });
    try {
      const waitedMs = await waitForOwner(options.client, context, patienceMs, leaving.signal);
      const leftMs = waitedMs === 0 ? patienceMs : Math.max(patienceMs - waitedMs, LEAST_WAIT_MS);
      const result = await tool.invoke(args, {
        leave: leaving.signal,
        idempotencyKey: approval.key ?? call?.key,
        equalCallsOf,
        approve: approval.approve,
        callback,
        patienceMs: asTask?.waitMs ?? leftMs,
        onDelta: progress.output,
        endOnly: token === undefined,
      });
      const asked = await askOwner(result, modes, context, codec);
      if (asked !== undefined) return asked;
      if (asTask !== undefined && result.status === 'running' && result.runId !== undefined)
        return asTask.ofRun(result.runId);
      return await withPayments(toCallResult(result), { result, tool, args, payments: options.payments });
    } catch (error) {
      if (call?.cancelled.aborted !== true) throw error;
      // The result ends the stream: without one, clients resume the call.
      return toCallResult({ status: 'error', text: `${MARKETPLACE_MARK} The call was cancelled.` });
    } finally {
      leaving.clear();
      progress.stop();
    }
  };
}

/** Arguments with the uploaded file in place of its name. */
async function withInputFile(
  { input_file: path, ...args }: Record<string, unknown>,
  files: InputFiles,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  if (path === undefined || path === null || path === '') return args;
  if (typeof path !== 'string') throw new InputFileError('"input_file" is not the path of a file.');
  return { ...args, input_uri: await files.send(path.trim(), signal) };
}
