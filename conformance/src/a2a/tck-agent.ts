import { once } from 'node:events';
import type { AgentFunction } from '@agent-rental/sdk/creator';

/** How long the task of the TCK that it follows goes on. */
const LONG_MS = 4_000;
/** Answers of the TCK's agent, by the beginning of a message id. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  'tck-artifact-text': 'Generated text content',
  'tck-artifact-data': { key: 'value', count: 42 },
  'tck-artifact-file-url': 'https://example.com/output.txt',
};

/** The agent of the TCK's scenarios, as far as an agent of the marketplace can play it. */
export const tckAgent: AgentFunction = async function* ({ task }, { signal }) {
  const name = Object.keys(ANSWERS).find((prefix) => task.startsWith(prefix));
  if (name !== undefined) return ANSWERS[name] as string;
  if (task.startsWith('tck-reject-task')) throw new Error('rejected');
  if (task.startsWith('tck-stream-') || task.startsWith('test-resubscribe')) {
    yield 'Stream hello ';
    yield 'from TCK';
    if (task.startsWith('test-resubscribe'))
      await Promise.race([once(signal, 'abort'), new Promise((resolve) => setTimeout(resolve, LONG_MS))]);
    return undefined;
  }
  return 'Hello from TCK';
};
