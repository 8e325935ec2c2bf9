import { createClient, isApiError } from '@agent-rental/sdk';
import type { ExecuteBody } from '@agent-rental/contract';

/** The input of a scenario; plain JSON, because it crosses into another runtime. */
export interface ScenarioInput {
  base_url: string;
  api_key: string;
  /** A request to an agent that the key's wallet has rented. */
  request: ExecuteBody;
}

/** The observations of a scenario; plain JSON again. */
export interface ScenarioReport {
  refused: { code: string; status: number; has_request_id: boolean } | undefined;
  found: string[];
  streamed: string;
  done: { status: string; output: unknown };
  aborted: string;
}

/** A renter's first minutes with the sdk's main entry: a wrong key, a search, a streamed run, an aborted one. */
export async function scenario({ base_url, api_key, request }: ScenarioInput): Promise<ScenarioReport> {
  const stranger = createClient({ baseUrl: base_url, apiKey: `${api_key.slice(0, 8)}${'x'.repeat(43)}` });
  const refusal: unknown = await stranger.searchListings().catch((error: unknown) => error);
  const client = createClient({ baseUrl: base_url, apiKey: api_key });
  const { listings } = await client.searchListings({ limit: 100 });
  let streamed = '';
  let done: ScenarioReport['done'] = { status: 'never', output: null };
  for await (const event of client.executeStream(request)) {
    if (event.event === 'output') streamed += event.data.delta;
    else done = { status: event.data.status, output: event.data.output };
  }
  return {
    refused: isApiError(refusal)
      ? { code: refusal.code, status: refusal.status, has_request_id: refusal.requestId !== undefined }
      : undefined,
    found: listings.map(({ id }) => id),
    streamed,
    done,
    aborted: await abortedRun({ base_url, api_key, request }),
  };
}

/** Aborts a run when its stream has started; gives the result that its reader sees. */
async function abortedRun({ base_url, api_key, request }: ScenarioInput): Promise<string> {
  const controller = new AbortController();
  const client = createClient({
    baseUrl: base_url,
    apiKey: api_key,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (response.url.endsWith('/stream')) controller.abort(new Error('The renter changed their mind.'));
      return response;
    },
  });
  try {
    for await (const event of client.executeStream(request, { signal: controller.signal })) void event;
    return 'ran to its end';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
