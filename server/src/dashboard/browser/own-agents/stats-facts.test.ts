import { expect, it } from 'vitest';
import { statsFacts } from './stats-facts.js';

const NONE = { no_slot: 0, rate_limit: 0, insufficient_balance: 0 };
const HEALTHY = {
  is_checked: true,
  checked_at: '2026-01-11T02:41:07.000Z',
  failed_days: 0,
  problem: null,
  failing_since: null,
  hidden_since: null,
};

const factsOf = (over: Partial<Parameters<typeof statsFacts>[0]>) =>
  statsFacts({
    listing_id: 'clerk-aaaaaa',
    window: '24h',
    since: '2026-01-11T00:00:00.000Z',
    runs: { total: 0, completed: 0, failed: 0, undelivered: 0 },
    duration_ms: { p50: null, p95: null },
    failures: [],
    refusals: NONE,
    health: HEALTHY,
    ...over,
  });

it('says how the nightly runs went, and why [SVC-30]', () => {
  const nightly = (health: object) => factsOf({ health: { ...HEALTHY, ...health } })[0]?.[1];
  expect(nightly({})).toBe('It worked on 2026-01-11.');
  expect(nightly({ checked_at: null })).toBe('There was none yet.');
  expect(nightly({ failed_days: 1 })).toBe('It failed last night.');
  expect(nightly({ failed_days: 3, problem: 'No \u202eanswer.' })).toBe(
    'It failed on the last 3 nights. No \\u{202e}answer.',
  );
  expect(nightly({ is_checked: false })).toMatch(/not run at night/);
});

it('says why runs failed and what was refused, where there was something [SVC-30]', () => {
  expect(factsOf({})).toHaveLength(1);
  const told = factsOf({
    failures: [
      { class: 'timed_out', count: 3 },
      { class: 'output_schema', count: 1 },
    ],
    refusals: { ...NONE, rate_limit: 2 },
  });
  expect(told.slice(1)).toEqual([
    ['3 times', 'The agent did not finish in time.'],
    ['Once', 'The output does not follow output_schema.'],
    ['2 times, refused', 'The renter ran the agent more often in a minute than the listing allows.'],
  ]);
});
