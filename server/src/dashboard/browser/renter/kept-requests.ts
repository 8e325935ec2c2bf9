import * as z from 'zod';

/** Where they lie in this tab's storage: no other tab or site reads it, and it ends with the tab. */
const ITEM = 'agent-rental-requests';
const MOST = 10;
const MOST_CHARACTERS = 500_000;

const keptRequests = z.array(z.object({ runId: z.string(), task: z.string(), input: z.json().optional() }));

/** What this tab sent to begin a run. The service keeps a digest of it alone. */
export type KeptRequest = z.infer<typeof keptRequests>[number];

/** Keeps the request of a run, so that its page shows it; a request that is too long is not kept. */
export function keepRequest(request: KeptRequest): void {
  const kept = [request, ...readAll()].slice(0, MOST);
  while (JSON.stringify(kept).length > MOST_CHARACTERS) kept.pop();
  try {
    sessionStorage.setItem(ITEM, JSON.stringify(kept));
  } catch {
    // The page of the run shows no task then.
  }
}

/** The request of a run; undefined where this tab did not begin it. */
export const keptRequest = (runId: string | null): KeptRequest | undefined =>
  readAll().find((request) => request.runId === runId);

/** Forgets all requests, as the person who made them logs out. */
export function forgetRequests(): void {
  try {
    sessionStorage.removeItem(ITEM);
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}

function readAll(): KeptRequest[] {
  try {
    return keptRequests.parse(JSON.parse(sessionStorage.getItem(ITEM) ?? '[]'));
  } catch {
    return [];
  }
}
