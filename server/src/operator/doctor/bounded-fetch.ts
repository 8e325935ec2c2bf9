import { createDeadline } from '@agent-rental/contract';

/** `fetch` that fails if no answer starts within `timeoutMs`. */
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
