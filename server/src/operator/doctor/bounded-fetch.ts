import { createDeadline } from '../../platform/deadline.js';

/** `fetch` that gives up when no answer has begun within so many milliseconds. */
export async function boundedFetch(
  url: string,
  timeoutMs: number,
  init: RequestInit = {},
): Promise<Response> {
  const deadline = createDeadline(timeoutMs);
  try {
    return await fetch(url, { ...init, signal: deadline.signal });
  } finally {
    deadline.clear();
  }
}
