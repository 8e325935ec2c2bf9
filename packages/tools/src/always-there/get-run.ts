import { MAX_WAIT_SECONDS } from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';
import { MARKETPLACE_MARK } from '../text/creator-text.js';
import type { RentedTool } from '../definitions/rented-tool.js';
import { BadArgumentsError, numberArgument, textArgument } from '../runs/run-arguments.js';
import {
  chargeText,
  continuation,
  lengthWithin,
  outputText,
  receiptPath,
  RESULT_MAX_BYTES,
} from '../runs/run-result.js';
import { checkedTool } from '../runs/checked-tool.js';
import { answer, READ_ONLY } from './answer.js';

/** Default wait for a running run. */
const WAIT_SECONDS = 20;

/** `get_run`: the result of an earlier run, from any character on. */
export function getRunTool(client: RentalClient): RentedTool {
  return checkedTool({
    name: 'get_run',
    title: 'Show a run',
    description:
      'Shows the output of an earlier run of this wallet, from a given character on, or says that it still runs. ' +
      'Free: it starts no run.',
    inputSchema: {
      type: 'object',
      properties: {
        run_id: { type: 'string' },
        offset: { type: 'integer', minimum: 0, description: 'First character to show. Default 0.' },
      },
      required: ['run_id'],
    },
    annotations: READ_ONLY,
    stream: (args, options) =>
      answer(args, options, async (given, call) => {
        const runId = textArgument(given, 'run_id')?.trim();
        if (runId === undefined || runId === '') throw new BadArgumentsError('"run_id" is missing.');
        const run = await client.getRun(runId, { ...call, waitSeconds: waitOf(options?.patienceMs) });
        if (run.status === 'running') {
          return {
            status: 'completed',
            text: `${MARKETPLACE_MARK} Run ${run.run_id} of ${run.agent_id} is still running. Ask for it again later.`,
            runId: run.run_id,
            agentId: run.agent_id,
          };
        }
        const text = outputText(run.output);
        const start = startOf(text, numberArgument(given, 'offset') ?? 0);
        const rest = text.slice(start);
        const end = start + lengthWithin(rest, RESULT_MAX_BYTES);
        return {
          status: 'completed',
          text: rest.slice(0, end - start),
          note:
            `${MARKETPLACE_MARK} Run ${run.run_id} of ${run.agent_id} ${run.status}. ${chargeText(run)} ` +
            continuation(run.run_id, start, end, text.length),
          ...(end < text.length ? { nextOffset: end } : {}),
          runId: run.run_id,
          receiptPath: receiptPath(run.run_id),
          agentId: run.agent_id,
          costLamports: run.cost_lamports,
          durationMs: run.duration_ms,
        };
      }),
  });
}

/** The wait of a call: as long as the wait of a call that runs an agent. */
function waitOf(patienceMs: number | undefined): number {
  if (patienceMs === undefined) return WAIT_SECONDS;
  return Math.min(Math.max(Math.floor(patienceMs / 1_000), 1), MAX_WAIT_SECONDS);
}

/** An offset inside the text, and not inside a surrogate pair. */
function startOf(text: string, offset: number): number {
  const start = Math.min(Math.max(Math.trunc(offset), 0), text.length);
  const unit = text.charCodeAt(start);
  return unit >= 0xdc00 && unit <= 0xdfff && start > 0 ? start - 1 : start;
}
