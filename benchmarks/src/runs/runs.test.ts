import { IS_QUICK } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { Sheet } from '../report.js';
import { measureRuns } from '../runs.js';

// Whether its targets hold is judged by the command alone: this shows that the suite measures what it says.
test.skipIf(IS_QUICK)(
  'the runs suite measures runs over HTTP and MCP, charged and not, beside the bare libraries and statements',
  { timeout: 300_000 },
  async () => {
    const { rows, targets } = await measureRuns(
      { runs: 6, idleSeconds: 0.5, backgroundSeconds: 4 },
      new Sheet(),
    );
    expect(rows.map(({ what }) => what)).toEqual([
      'Fastify as it comes, connected',
      'MCP SDK as it comes, connected',
      expect.stringMatching(
        /^Fastify as it comes, with the [45] statements of a run prepared, connected, not charged$/,
      ),
      'HTTP, connected, not charged',
      'MCP, connected, not charged',
      'HTTP, declarative, not charged',
      'MCP, declarative, not charged',
      'HTTP, connected, charged',
      'MCP, connected, charged',
      'HTTP, declarative, charged',
      'MCP, declarative, charged',
    ]);
    for (const { runs_per_s: rate } of rows) expect(rate).toBeGreaterThan(0);
    expect(targets).toHaveLength(4);
    const charged = rows.filter(({ what }) => /^(HTTP|MCP), .*, charged$/.test(String(what)));
    expect(charged).toHaveLength(4);
    // Too few runs for a figure: the calls of an idle server are taken off.
    for (const { rpc_calls: calls } of charged) expect(calls).toEqual(expect.any(Number));
  },
);
