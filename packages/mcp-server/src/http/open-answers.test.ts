import { expect, it } from 'vitest';
import { OpenAnswers } from './open-answers.js';

it('waits until the last answer is read, also an answer that has not started', async () => {
  const answers = new OpenAnswers();
  let answer = (_response: Response): void => undefined;
  const late = answers.track(new Promise<Response>((resolve) => (answer = resolve)));
  const first = await answers.track(Promise.resolve(new Response('first')));
  await answers.track(Promise.resolve(new Response(null, { status: 202 })));
  let isOver = false;
  const ended = answers.ended(60_000).then(() => (isOver = true));
  await first.text();
  expect(isOver).toBe(false);
  answer(new Response('late'));
  expect(await (await late).text()).toBe('late');
  await ended;
});

it('does not count an answer that failed, broke, or has lost its reader', async () => {
  const answers = new OpenAnswers();
  await expect(answers.track(Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
  const breaking = new ReadableStream({ pull: (controller) => controller.error(new Error('broken')) });
  const broken = await answers.track(Promise.resolve(new Response(breaking)));
  await expect(broken.text()).rejects.toThrow('broken');
  const left = await answers.track(Promise.resolve(new Response('left')));
  await left.body?.cancel();
  await answers.ended(60_000);
});

it('waits no longer than it may', async () => {
  const answers = new OpenAnswers();
  void answers.track(new Promise<Response>(() => undefined));
  await answers.ended(1);
});
