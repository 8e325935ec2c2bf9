import { readBody, startHttpStandIn } from '@agent-rental/server/testing';

/** Webhooks' addresses that refuse everything until they take everything. */
export interface Receivers {
  readonly origin: string;
  /** Ids of events that came to an address: the ones it refused, and the ones it took. */
  readonly refused: Record<string, string[]>;
  readonly taken: Record<string, string[]>;
  /** From now on each address answers 200. */
  take(): void;
  close(): Promise<void>;
}

/** Starts them. Until {@link Receivers.take}, addresses with `hangs` in their path never answer; others close the connection. */
export async function startReceivers(): Promise<Receivers> {
  const refused: Receivers['refused'] = {};
  const taken: Receivers['taken'] = {};
  let takes = false;
  const standIn = await startHttpStandIn(async (request, response) => {
    const path = request.url ?? '';
    const { id } = JSON.parse(await readBody(request)) as { id: string };
    if (id !== request.headers['webhook-id']) throw new Error(`The header and the event differ: ${id}`);
    ((takes ? taken : refused)[path] ??= []).push(id);
    if (takes) response.writeHead(200).end();
    else if (!path.includes('hangs')) request.socket.destroy();
  });
  return { ...standIn, refused, taken, take: () => void (takes = true) };
}
