import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OutputGate } from './output-gate.js';

function newGate() {
  const left: string[] = [];
  const sink = {
    begin: (runId: string) => void left.push(`begin ${runId}`),
    delta: (text: string) => void left.push(text),
  };
  return { left, gate: new OutputGate(sink, 'run-1') };
}

it('lets nothing out before it is opened, then everything, in order', () => {
  const { left, gate } = newGate();
  gate.push('a');
  gate.push('b');
  expect(left).toEqual([]);
  expect(gate.text).toBe('ab');
  gate.open();
  gate.push('c');
  expect(left).toEqual(['begin run-1', 'a', 'b', 'c']);
  expect(gate.text).toBe('abc');
});

it('keeps the order whenever it is opened, and opens once', () => {
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
