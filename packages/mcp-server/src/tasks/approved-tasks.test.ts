import { clientOptions, createStandIn } from '@agent-rental/stand-in';
import { createClient } from '@agent-rental/sdk';
import { memoryLedger, rentedToolset, type RunCallback } from '@agent-rental/tools';
import type { ServerContext } from '@modelcontextprotocol/server';
import { randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { createTokenSigner } from '../sessions/signed-token.js';
import { AskingTasks } from './asking-tasks.js';
import { TaskIds } from './task-ids.js';
import { Tasks } from './tasks.js';

const PRICE = 2_000_000;
const context = { mcpReq: { signal: new AbortController().signal } } as unknown as ServerContext;
const yes = { approve: { action: 'accept', content: { approve: true } } };

/** A wallet whose runs need approval, and its processes. */
function wallet() {
  const standIn = createStandIn([{ id: 'a-aaaaaa', price_lamports: PRICE }]);
  const ledger = memoryLedger();
  const ids = new TaskIds(createTokenSigner(randomBytes(32)), '');
  const newProcess = () => {
    const client = createClient(clientOptions(standIn));
    const toolset = rentedToolset(client, { policy: { askAboveLamports: 1n }, ledger });
    const asking = new AskingTasks();
    const tasks = new Tasks({ ids, client, toolset, asking, waitMs: 5_000 });
    return {
      tasks,
      end: () => asking.cancelAll(),
      begin: async (callback?: RunCallback) => {
        const tool = await toolset.find('a_aaaaaa');
        return (await tasks.ofQuestion(tool!, { task: 't' }, callback))!;
      },
      status: async (taskId: string) => (await tasks.get(taskId, context)).status,
    };
  };
  return { standIn, newProcess };
}

describe('a call that needs the user’s approval, as a task', () => {
  it('asks, and runs after the approval', async () => {
    const { standIn, newProcess } = wallet();
    const { tasks, begin, status } = newProcess();
    const { taskId, status: first } = await begin();
    expect(first).toBe('input_required');
    const { inputRequests } = await tasks.get(taskId, context);
    expect(inputRequests?.['approve']).toMatchObject({ method: 'elicitation/create' });
    expect(standIn.charged).toBe(0);
    await tasks.update(taskId, yes, context);
    await vi.waitFor(async () => expect(await status(taskId)).toBe('completed'));
    await tasks.update(taskId, yes, context);
    expect(standIn.charged).toBe(PRICE);
  });

  it('asks again in another process, and pays once for the approval in the first', async () => {
    const { standIn, newProcess } = wallet();
    const first = newProcess();
    const { taskId } = await first.begin({ url: 'https://hook.example/a' });
    first.end();
    const second = newProcess();
    await vi.waitFor(async () => expect(await second.status(taskId)).toBe('input_required'));
    await second.tasks.update(taskId, yes, context);
    await vi.waitFor(async () => expect(await second.status(taskId)).toBe('completed'));
    const third = newProcess();
    await vi.waitFor(async () => expect(await third.status(taskId)).toBe('completed'));
    expect(standIn.charged).toBe(PRICE);
    const run = standIn.requests.find(({ path }) => path.startsWith('/v1/execute'));
    expect(run?.body).toMatchObject({ callback_url: 'https://hook.example/a' });
  });

  it.each([{ action: 'decline' }, { action: 'accept', content: { approve: 'true' } }])(
    'spends nothing for the answer %j',
    async (answer) => {
      const { standIn, newProcess } = wallet();
      const { tasks, begin } = newProcess();
      const { taskId } = await begin();
      await tasks.update(taskId, { approve: answer }, context);
      await vi.waitFor(async () => {
        const task = await tasks.get(taskId, context);
        expect(task).toMatchObject({ status: 'completed', result: { isError: true } });
      });
      expect(standIn.charged).toBe(0);
    },
  );

  it('is cancelled with its key, so that no process runs it', async () => {
    const { standIn, newProcess } = wallet();
    const { tasks, begin, status } = newProcess();
    const { taskId } = await begin();
    await tasks.cancel(taskId);
    expect(await status(taskId)).toBe('cancelled');
    expect(standIn.cancelledKeys).toHaveLength(1);
    await tasks.update(taskId, yes, context);
    expect(standIn.charged).toBe(0);
  });
});
