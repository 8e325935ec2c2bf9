import { expect, test } from 'vitest';
import { isPlayed } from '../harness/sampled-suites.js';
import { Sheet } from '../report.js';
import { measureWebhooks } from '../webhooks.js';

// Only the command judges the targets. This test checks the suite's rows.
test.runIf(isPlayed('webhooks'))(
  'the webhooks suite measures events at living endpoints beside dead ones, and loses none',
  { timeout: 300_000 },
  async () => {
    const { rows, targets } = await measureWebhooks({ events: 300, rate: 100 }, new Sheet());
    expect(rows.map(({ what }) => what)).toEqual([
      'bare fetch, called to received',
      'event, committed to received',
      'start of a run, beside the bare fetch',
      'start of a run, beside deliveries',
    ]);
    expect(rows[1]).toMatchObject({ samples: 285, lost: 0, copies: 0 });
    expect(targets).toHaveLength(3);
  },
);
