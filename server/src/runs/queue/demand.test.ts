import { describe, expect, it } from 'vitest';
import { createSlotDemand } from './demand.js';

const bounds = { slots: 2, queueLength: 4, ownLength: 2 };
let last = 0;
const run = (wallet: string, listingId = 'listing') => ({
  runId: `run-${(last += 1)}`,
  listingId,
  wallet,
  isPriority: false,
});

describe('the demand for slots of one process', () => {
  it('is met as far as slots and queue go, by one wallet no further than its part of the queue [EXE-28]', () => {
    const demand = createSlotDemand(bounds);
    for (let index = 0; index < 4; index += 1) expect(demand.add(run('greedy'))).toBeDefined();
    expect(demand.add(run('greedy'))).toBeUndefined();
    for (const wallet of ['one', 'other']) expect(demand.add(run(wallet))).toBeDefined();
    expect(demand.add(run('third'))).toBeUndefined();
    expect(demand.add(run('third', 'another listing'))).toBeDefined();
  });

  it('counts a wallet with slots as one that does not wait', () => {
    const demand = createSlotDemand(bounds);
    const seated = [run('one'), run('one')];
    for (const each of seated) {
      demand.add(each);
      demand.seated(each.runId);
    }
    for (let index = 0; index < 2; index += 1) expect(demand.add(run('one'))).toBeDefined();
    expect(demand.add(run('one'))).toBeUndefined();
    expect(demand.add(run('other'))).toBeDefined();
  });

  it('falls when a run has left, seated or not', () => {
    const demand = createSlotDemand({ slots: 1, queueLength: 1, ownLength: 1 });
    const seated = run('one');
    const leave = [demand.add(seated), demand.add(run('one'))];
    demand.seated(seated.runId);
    for (const each of leave) {
      expect(demand.add(run('other'))).toBeUndefined();
      each?.();
      leave.push(demand.add(run('other')));
      expect(leave.at(-1)).toBeDefined();
      if (leave.length === 4) break;
    }
  });
});
