import { expect, it, vi } from 'vitest';
import { giveUpAtTimeouts, isClientTimeout } from './client-timeouts.js';

it.each([
  [5_003, true],
  [30_180, true],
  [59_990, true],
  [1_995, true],
  [1_010, false],
  [400, false],
  [5_400, false],
  [7_900, false],
])('a call that is cancelled after %i ms was ended by a timeout: %s', (elapsedMs, expected) => {
  expect(isClientTimeout(elapsedMs)).toBe(expected);
});

it.each([
  [7_700, [7_500], true],
  [7_700, [7_300], false],
  [700, [700], false],
])(
  'a call that is cancelled after %i ms, as earlier ones after %j ms, was ended by a timeout: %s [RUN-25]',
  (elapsedMs, earlier, expected) => {
    expect(isClientTimeout(elapsedMs, earlier)).toBe(expected);
  },
);

it.each([
  ['stops the run of a call that is cancelled at any time', 7_700, [], { stopped: true, told: true }],
  [
    'leaves the run where an earlier call ended after the same time',
    7_700,
    [7_600],
    { stopped: false, told: true },
  ],
  ['is not told of a cancel at once', 300, [], { stopped: true, told: false }],
])('%s [RUN-25]', (_name, elapsedMs, earlier, { stopped, told }) => {
  const cancel = new AbortController();
  const onGiveUp = vi.fn();
  const receivedAt = performance.now() - elapsedMs;
  const end = giveUpAtTimeouts(cancel.signal, undefined, { receivedAt, earlier: () => earlier, onGiveUp });
  cancel.abort();
  expect(end.signal.aborted).toBe(stopped);
  expect(end.leave.aborted).toBe(!stopped);
  expect(onGiveUp).toHaveBeenCalledTimes(told ? 1 : 0);
});

it('takes a cancel for one also where the connection that it breaks is noticed first [RUN-25]', () => {
  const cancel = new AbortController();
  const connection = new AbortController();
  // As the transport does, which hears of the cancel before the call.
  cancel.signal.addEventListener('abort', () => connection.abort());
  const receivedAt = performance.now() - 7_700;
  const end = giveUpAtTimeouts(cancel.signal, connection.signal, {
    receivedAt,
    earlier: () => [],
    onGiveUp: () => undefined,
  });
  cancel.abort();
  expect(end.signal.aborted).toBe(true);
  expect(end.leave.aborted).toBe(false);
});
