import type { RentedTool } from '@agent-rental/tools';
import { afterEach, expect, it, vi } from 'vitest';
import { watchList } from './list-watch.js';

const tool = (description: string) => [{ name: 'agent_x', title: 'X', description } as RentedTool];

afterEach(() => void vi.useRealTimers());

it('reports a changed list once, and tries again after a failed read [REG-90]', async () => {
  vi.useFakeTimers();
  const lists = [tool('old'), new Error('no network'), tool('new'), tool('new')];
  const onChange = vi.fn();
  const refresh = vi.fn(async () => {
    const next = lists.shift() ?? tool('new');
    if (next instanceof Error) throw next;
    return next;
  });
  const watch = watchList({ toolset: { refresh }, everyMs: 1_000, onChange });
  await vi.advanceTimersByTimeAsync(5_000);
  // The client has no list yet, so no list can be out of date.
  expect(refresh).not.toHaveBeenCalled();
  watch.given(tool('old'));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(onChange).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(onChange).toHaveBeenCalledTimes(1);
  watch.stop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(refresh).toHaveBeenCalledTimes(4);
});
