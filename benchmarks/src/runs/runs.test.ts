import { isPlayed } from '../harness/sampled-suites.js';
import { expect, test } from 'vitest';
import { Sheet } from '../report.js';
import { measureRuns } from '../runs.js';

// Only the command judges the targets. This test checks the suite's rows.
test.runIf(isPlayed('runs'))(
  'the runs suite measures charged and uncharged runs over HTTP and MCP, bare libraries and bare statements',
  { timeout: 300_000 },
  async () => {
    const { rows, targets } = await measureRuns(
      { runs: 6, idleSeconds: 0.5, backgroundSeconds: 4 },
      new Sheet(),
    );
    expect(rows.map(({ what }) => what)).toEqual([
      'bare Fastify, connected',
      'bare MCP SDK, connected',
      expect.stringMatching(
        /^bare Fastify, with the [45] statements of a run prepared, connected, not charged$/,
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
    // Too few runs for a positive figure, because the calls of an idle server are subtracted.
    for (const { rpc_calls: calls } of charged) expect(calls).toEqual(expect.any(Number));
  },
);
