import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OutputGate } from './output-gate.js';

function newGate(record?: () => Promise<void>) {
  const left: string[] = [];
  const sink = {
    begin: (runId: string) => void left.push(`begin ${runId}`),
    delta: (text: string) => void left.push(text),
  };
  return { left, gate: new OutputGate(sink, 'run-1', record) };
}

it('lets nothing out before it is opened, then everything, in order, and opens once', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.nat(20), (deltas, openAt) => {
      const { left, gate } = newGate();
      for (const [index, delta] of deltas.entries()) {
        if (index === openAt) gate.open();
        gate.push(delta);
        expect(left.length > 0).toBe(index >= openAt);
      }
      gate.open();
      gate.open();
      expect(left).toEqual(['begin run-1', ...deltas.filter((delta) => delta !== '')]);
      expect(gate.text).toBe(deltas.join(''));
    }),
    { seed: 5 },
  );
});

it('serves a caller that only wants the end', () => {
  const gate = new OutputGate(undefined, 'run-1');
  gate.push('a');
  gate.open();
  gate.push('b');
  expect(gate.text).toBe('ab');
});

it('lets nothing out before it is on record that output leaves, then everything, in order [MON-1]', async () => {
  let recorded: () => void = () => undefined;
  let records = 0;
  const { left, gate } = newGate(() => {
    records += 1;
    return new Promise((resolve) => (recorded = resolve));
  });
  gate.open();
  expect([records, gate.hasLeft]).toEqual([0, false]);
  gate.push('a');
  gate.push('b');
  expect([left, records, gate.hasLeft]).toEqual([['begin run-1'], 1, true]);
  recorded();
  await new Promise((resolve) => setImmediate(resolve));
  gate.push('c');
  expect([left, records]).toEqual([['begin run-1', 'a', 'b', 'c'], 1]);
});

it('needs no record of output that leaves after the end of the run is on record', () => {
  const { left, gate } = newGate(() => Promise.reject(new Error('not asked')));
  gate.open();
  gate.markRecorded();
  gate.push('all of it');
  expect(left).toEqual(['begin run-1', 'all of it']);
});

it('lets nothing out once it is closed, whatever is pushed or recorded later', async () => {
  const { left, gate } = newGate(() => Promise.resolve());
  gate.push('a');
  gate.drop();
  gate.open();
  gate.push('b');
  await new Promise((resolve) => setImmediate(resolve));
  expect([left, gate.hasLeft]).toEqual([[], false]);
});
