import type { RentalClient } from '@agent-rental/sdk';
import { MARKETPLACE_MARK } from '../text/creator-text.js';
import type { RentedTool, ToolAnnotations } from '../definitions/rented-tool.js';
import { BadArgumentsError, textArgument } from '../runs/run-arguments.js';
import { chargeText } from '../runs/run-result.js';
import { checkedTool } from '../runs/checked-tool.js';
import { answer } from './answer.js';

/** Hints of a tool that stops a run: destructive, and idempotent. */
const ENDS_A_RUN: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};

/** `cancel_run`: stops a running run. */
export function cancelRunTool(client: RentalClient): RentedTool {
  return checkedTool({
    name: 'cancel_run',
    title: 'Stop a run',
    description:
      'Stops a running run of this wallet. Its charge is not refunded. A run that has ended does not change.',
    inputSchema: { type: 'object', properties: { run_id: { type: 'string' } }, required: ['run_id'] },
    annotations: ENDS_A_RUN,
    stream: (args, options) =>
      answer(args, options, async (given, call) => {
        const runId = textArgument(given, 'run_id')?.trim();
        if (runId === undefined || runId === '') throw new BadArgumentsError('"run_id" is missing.');
        const { cancelled, run } = await client.cancelRun(runId, call);
        const ended = run !== undefined && run.status !== 'running' ? run : undefined;
        const said = cancelled
          ? `Run ${runId} was stopped.`
          : `Run ${runId} had ended by itself: get_run shows its output.`;
        return {
          status: 'completed',
          text: `${MARKETPLACE_MARK} ${said}${ended === undefined ? '' : ` ${chargeText(ended)}`}`,
          runId,
          ...(run === undefined ? {} : { agentId: run.agent_id }),
          ...(ended === undefined
            ? {}
            : { costLamports: ended.cost_lamports, durationMs: ended.duration_ms }),
        };
      }),
  });
}
