import { createStandIn } from '@agent-rental/stand-in';
import { inputRequired } from '@modelcontextprotocol/server';
import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTokenSigner } from '../sessions/signed-token.js';
import { serveMcp } from '../testing/serve-mcp.js';
import { taskClient } from '../testing/task-client.js';
import { AskingTask, AskingTasks } from './asking-tasks.js';
import { TaskIds, TASK_TTL_MS } from './task-ids.js';

const ID = 'slow-aaaaaa';
const PRICE = 2_000_000;
const CALL = { name: 'slow_aaaaaa', arguments: { task: 't' } };

/** A marketplace behind two replicas, with an agent that a test ends. */
async function served() {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const standIn = createStandIn([
    {
      id: ID,
      price_lamports: PRICE,
      run: async function* () {
        yield 'working';
        await ended;
        return { output: 'late' };
      },
    },
  ]);
  const secret = randomBytes(32);
  const [one, two] = await Promise.all([1, 2].map(() => serveMcp(standIn, { secret, taskWaitMs: 20 })));
  onTestFinished(async () => {
    end();
    await Promise.all([one!.close(), two!.close()]);
  });
  return { standIn, end, one: one!.url, two: two!.url };
}

describe('a call of a client that declares tasks', () => {
  it('is a task once its run takes longer, which every replica knows and which is charged once', async () => {
    const { standIn, end, one, two } = await served();
    const { result } = await taskClient(one, 'alice')('tools/call', CALL);
    expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: TASK_TTL_MS });
    const { taskId } = result!;
    const other = taskClient(two, 'alice');
    expect((await other('tasks/get', { taskId })).result).toMatchObject({ status: 'working' });
    end();
    await vi.waitFor(async () => {
      const { result: task } = await other('tasks/get', { taskId });
      expect(task).toMatchObject({ status: 'completed', result: { content: [{ text: 'late' }, {}] } });
    });
    expect(standIn.charged).toBe(PRICE);
  });

  it('is cancelled as a run is, and its cancellation may come twice', async () => {
    const { one } = await served();
    const send = taskClient(one, 'alice');
    const { result } = await send('tools/call', CALL);
    const { taskId } = result!;
    for (let count = 0; count < 2; count += 1)
      expect((await send('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
    const { result: task } = await send('tasks/get', { taskId });
    expect(task).toMatchObject({ status: 'cancelled' });
    expect(task?.['statusMessage']).toContain('Charged 2000000 lamports');
  });

  it('is refused to another caller', async () => {
    const { one } = await served();
    const { result } = await taskClient(one, 'alice')('tools/call', CALL);
    const { taskId } = result!;
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const params = { taskId, ...(method === 'tasks/update' ? { inputResponses: {} } : {}) };
      const { error } = await taskClient(one, 'mallory')(method, params);
      expect(error).toMatchObject({ code: -32_602 });
      expect(error?.message).toContain('not a task of this caller');
    }
  });

  it('is no task if the client does not declare tasks', async () => {
    const { end, one } = await served();
    const plain = taskClient(one, 'alice', {});
    const answer = plain('tools/call', CALL);
    const refused = await plain('tasks/get', { taskId: 'any' });
    expect(refused.error).toMatchObject({ code: -32_021 });
    end();
    expect((await answer).result).toMatchObject({ resultType: 'complete', content: [{ text: 'late' }, {}] });
  });
});

describe('the id of a task', () => {
  const signer = createTokenSigner(randomBytes(32));
  const task = { runId: 'run_1', createdAtMs: Date.now() };

  it('is read by its caller alone, as it was written', () => {
    const id = new TaskIds(signer, 'alice').write(task)!;
    expect(new TaskIds(signer, 'alice').read(id)).toMatchObject(task);
    expect(() => new TaskIds(signer, 'mallory').read(id)).toThrow('not a task of this caller');
    expect(() => new TaskIds(signer, 'alice').read(`${id}x`)).toThrow('not a task of this caller');
    expect(() => new TaskIds(signer, 'alice').read('run_1')).toThrow('not a task of this caller');
  });

  it('expires with the result of its run', () => {
    const ids = new TaskIds(signer, 'alice');
    const old = ids.write({ ...task, createdAtMs: Date.now() - TASK_TTL_MS - 1 })!;
    expect(() => ids.read(old)).toThrow('has expired');
  });

  it('is missing for arguments that are too long for a header', () => {
    const args = { text: randomBytes(10_000).toString('hex') };
    expect(new TaskIds(signer, 'a').write({ tool: 't', args, key: 'k', createdAtMs: 0 })).toBeUndefined();
  });
});

describe('a task that asks', () => {
  const question = inputRequired.elicit({
    message: 'Pay?',
    requestedSchema: { type: 'object', properties: { approve: { type: 'boolean' } } },
  });
  const done = (said: unknown) => ({
    result: { content: [{ type: 'text' as const, text: JSON.stringify(said) }] },
  });

  it('shows the open question, ignores other answers, and continues with the answer', async () => {
    const task = new AskingTask(async (ask) => done(await ask('approve', question)));
    await task.settle();
    expect(Object.keys(task.questions)).toEqual(['approve']);
    task.answer({ other: 1 });
    expect(Object.keys(task.questions)).toEqual(['approve']);
    task.answer({ approve: { action: 'decline' } });
    await vi.waitFor(() => expect(task.outcome).toEqual(done({ action: 'decline' })));
    expect(task.questions).toEqual({});
  });

  it('that is cancelled ends the work that waits for its answer', async () => {
    let reason: unknown;
    const task = new AskingTask(async (ask) => {
      await ask('approve', question).catch((error: unknown) => {
        reason = error;
        throw error;
      });
      return done('never');
    });
    await task.settle();
    task.cancel();
    await vi.waitFor(() => expect(String(reason)).toContain('cancelled'));
    expect(task.outcome).toEqual({ isCancelled: true });
  });

  it('has room beside a hundred others, and not beside a hundred that wait', async () => {
    const tasks = new AskingTasks();
    for (let count = 0; count < 100; count += 1)
      tasks.begin(`${count}`, async (ask) => done(await ask('approve', question)));
    expect(tasks.hasRoom).toBe(false);
    tasks.find('0')!.cancel();
    expect(tasks.hasRoom).toBe(true);
    tasks.cancelAll();
  });
});
