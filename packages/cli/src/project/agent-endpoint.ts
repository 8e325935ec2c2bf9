import { setTimeout as sleep } from 'node:timers/promises';
import { createDeadline } from '@agent-rental/sdk';
import type { CliEnvironment } from '../cli-environment.js';
import { isLoopback } from '../marketplace.js';
import type { AgentProject } from './agent-file.js';

export const POLL_MS = 50;
/** Limit of the time in which an agent starts. */
export const START_TIMEOUT_MS = 30_000;
const ANSWER_TIMEOUT_MS = 1_000;

/** Whether anything answers at an address, with any status. */
export async function answers(url: string): Promise<boolean> {
  const deadline = createDeadline(ANSWER_TIMEOUT_MS);
  try {
    const response = await fetch(url, { signal: deadline.signal });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  } finally {
    deadline.clear();
  }
}

/** Waits for an agent of this machine that has just been started. The marketplace tells if it never answers. */
export async function waitForOwnAgent(
  { body }: AgentProject,
  { err, signal }: Pick<CliEnvironment, 'err' | 'signal'>,
): Promise<void> {
  const url = body['entrypoint_url'];
  if (typeof url !== 'string' || !isLoopback(url) || (await answers(url))) return;
  err(`Waiting up to ${START_TIMEOUT_MS / 1000} seconds for the agent at ${url}: start it with "npm start"`);
  const endMs = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < endMs && !(await answers(url))) await sleep(POLL_MS, undefined, { signal });
}
