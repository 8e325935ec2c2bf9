import { setTimeout as pause } from 'node:timers/promises';

const LONGEST_MS = 120_000;
const INTERVAL_MS = 250;

/**
 * Asks again and again until there is an answer.
 *
 * @throws Error naming `what` after two minutes, and whatever `ask` throws.
 */
export async function waitFor<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + LONGEST_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`Waited ${LONGEST_MS / 1000} s for ${what}.`);
    await pause(INTERVAL_MS);
  }
}
