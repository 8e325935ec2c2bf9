/**
 * A small marketplace in this process, for tests of code that uses the API. Its answers follow the contract's schemas.
 * It keeps idempotency keys and charges, and tells the received requests.
 */
import {
  MARKETPLACE_SKILLS,
  operations,
  REFUSAL_TEXT,
  RENTAL_TERMS,
  type EndedRun,
  type ErrorCode,
  type ExecuteBody,
} from '@agent-rental/contract';
import { failure, json, priceLamports, receiptOf, toListing, toRentedListing } from './answers.js';
import type { StandInAgent, StandInListing } from './listing.js';
import { createPayments, type PaymentState } from './payments.js';
import { listenNode } from './listen-node.js';
import { StandInLogin } from './stand-in-login.js';
import { STAND_IN_WALLET } from './stand-in-wallet.js';

/** The API key that the stand-in takes. */
export const STAND_IN_API_KEY = 'ark_dev_stand_in';

/** Options of a client that asks a stand-in and repeats no request. */
export const clientOptions = ({ fetch }: Pick<StandIn, 'fetch'>) =>
  ({ baseUrl: 'http://market.invalid', apiKey: STAND_IN_API_KEY, fetch, retries: 0 }) as const;

/** A request that came in. */
export interface StandInRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: unknown;
}

/** The marketplace of a test. */
export interface StandIn extends PaymentState {
  /** Answers in process: give it to `createClient` as `fetch`. */
  readonly fetch: typeof fetch;
  /** Every request, in order. */
  readonly requests: StandInRequest[];
  /** Lamports charged so far. */
  charged: number;
  /** Ends the next stream after its first delta, as a broken connection does; the run goes on. */
  cutNextStream: boolean;
  /** Idempotency keys whose runs were cancelled. */
  readonly cancelledKeys: string[];
  /** Answers the next execute request with this error. */
  failNextRun: { code: ErrorCode; message: string; retryAfterSeconds?: number } | undefined;
  /** Adds a listing. */
  add(listing: StandInListing): void;
  /** Serves it on a free port of the loopback address. */
  listen(): Promise<{ readonly baseUrl: string; close(): Promise<void> }>;
}

/** A run that was started. */
interface BegunRun {
  readonly id: string;
  readonly agentId: string;
  readonly end: Promise<EndedRun>;
  readonly cancelled: AbortController;
}

/** Makes a stand-in with some listings. */
export function createStandIn(listings: readonly StandInListing[] = []): StandIn {
  const known = new Map(listings.map((listing) => [listing.id, listing]));
  const runs = new Map<string, EndedRun>();
  /** Listings whose free run was had. */
  const tried = new Set<string>();
  const byKey = new Map<string, BegunRun>();
  const working = new Map<string, BegunRun>();
  const login = new StandInLogin();

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const text = await request.text();
    const isFile = url.pathname === operations.createFile.path;
    const body: unknown = text === '' ? undefined : isFile ? text : JSON.parse(text);
    const { method, headers } = request;
    standIn.requests.push({ method, path: url.pathname, query: url.searchParams, headers, body });
    const granted = await login.answer(url, body);
    if (granted !== undefined) return granted;
    const [, skill] = /^\/\.well-known\/skills\/([\w-]+)\/SKILL\.md$/.exec(url.pathname) ?? [];
    if (skill !== undefined) return skillOf(skill);
    const authorization = request.headers.get('authorization');
    const wallet =
      authorization === `Bearer ${STAND_IN_API_KEY}` ? STAND_IN_WALLET : login.walletOf(authorization);
    if (wallet === undefined) return failure('invalid_api_key', REFUSAL_TEXT.invalidApiKey);
    const [, , resource, id] = url.pathname.split('/').map(decodeURIComponent);
    if (isFile) return storedFile(request.headers.get('content-type') ?? '', text.length);
    if (resource === 'listings') return id === undefined ? search(url.searchParams) : detail(id);
    if (resource === 'credentials')
      return id === undefined ? credentials(url.searchParams) : verification(id);
    const [, , , , detailOf] = url.pathname.split('/');
    if (resource === 'runs' && id === 'cancel') return cancelByKey(body);
    if (resource === 'runs' && detailOf === 'cancel') return cancel(id ?? '');
    if (resource === 'runs' && detailOf === 'receipt') return receipt(id ?? '');
    if (resource === 'runs' && id !== undefined) return pastRun(id);
    if (resource === 'transactions')
      return id === 'submit' ? payments.submit(body) : payments.propose(body, wallet);
    if (resource === 'execute') return execute(request, body, id === 'stream');
    if (resource === 'events') return quietEvents(request);
    return failure('not_found', 'There is no such route.');
  }

  /** Nothing happens to the wallet: its stream is open and quiet. */
  function quietEvents({ headers, signal }: Request): Response {
    if (headers.get('accept') !== 'text/event-stream') return json(operations.listEvents, { events: [] });
    const quiet = new ReadableStream({
      start: (stream) => signal.addEventListener('abort', () => stream.error(signal.reason), { once: true }),
    });
    return new Response(quiet, { headers: { 'content-type': 'text/event-stream' } });
  }

  /** The document of a skill, without its sections. */
  function skillOf(name: string): Response {
    const isKnown = known.has(name) || MARKETPLACE_SKILLS.some((skill) => skill === name);
    if (!isKnown) return failure('listing_not_found', REFUSAL_TEXT.noSuchListing);
    return new Response(`---\nname: ${name}\ndescription: "Skill ${name}"\n---\n\n# ${name}\n`);
  }

  function storedFile(media_type: string, size_bytes: number): Response {
    const file_id = crypto.randomUUID();
    return json(operations.createFile, {
      file_id,
      input_uri: `agent-rental://files/${file_id}`,
      media_type,
      size_bytes,
      created_at: '2026-01-01T00:00:00Z',
      expires_at: '2026-01-02T00:00:00Z',
    });
  }

  function search(query: URLSearchParams): Response {
    const parsed = operations.searchListings.query.safeParse(Object.fromEntries(query));
    if (!parsed.success) return failure('invalid_request', parsed.error.issues[0]?.message ?? 'invalid');
    const { q, limit, offset } = parsed.data;
    // As the service: every word has to be there.
    const words = (q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    const found = [...known.values()].filter(({ title, id, description }) => {
      const text = `${title} ${id} ${description}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const page = found.slice(offset, offset + limit).map(toListing);
    return json(operations.searchListings, { listings: page, total: found.length, limit, offset });
  }

  function detail(id: string): Response {
    const listing = known.get(id);
    return listing
      ? json(operations.getListing, toListing(listing))
      : failure('listing_not_found', REFUSAL_TEXT.noSuchListing);
  }

  function credentials(query: URLSearchParams): Response {
    const { status, include, limit, offset, cursor } = operations.listCredentials.query.parse(
      Object.fromEntries(query),
    );
    const start = cursor === undefined ? offset : Number(cursor);
    const held = [...known.values()]
      .filter(
        ({ rental = 'active' }) =>
          rental !== 'none' && (status === undefined || status === 'current' || rental === status),
      )
      .sort((first, second) => purchasedAtMs(second) - purchasedAtMs(first));
    return json(operations.listCredentials, {
      credentials: held.slice(start, start + limit).map((listing) => ({
        listing_id: listing.id,
        listing_title: listing.title ?? listing.id,
        rental_model: listing.rental_model ?? 'per_query',
        status: listing.rental ?? 'active',
        purchased_at: listing.purchased_at ?? '2026-01-01T00:00:00Z',
        expires_at: null,
        pda_address: 'pda',
        ...(include === 'listing' ? { listing: toRentedListing(listing) } : {}),
      })),
      total: held.length,
      ...(start + limit < held.length ? { next_cursor: String(start + limit) } : {}),
    });
  }

  function verification(id: string): Response {
    const rental = known.get(id)?.rental ?? (known.has(id) ? 'active' : 'none');
    return json(operations.verifyCredential, {
      listing_id: id,
      status: rental === 'none' ? 'not_found' : rental,
      valid: rental === 'active',
      on_chain_verified: rental !== 'none',
    });
  }

  async function cancel(id: string): Promise<Response> {
    const started = working.get(id);
    started?.cancelled.abort();
    const run = (await started?.end) ?? runs.get(id);
    const cancelled = started !== undefined;
    return run ? json(operations.cancelRun, { cancelled, run }) : failure('not_found', 'No such run.');
  }

  function cancelByKey(body: unknown): Response {
    const { idempotency_key } = operations.cancelRunByKey.body.parse(body);
    standIn.cancelledKeys.push(idempotency_key);
    byKey.get(idempotency_key)?.cancelled.abort();
    return json(operations.cancelRunByKey, { cancelled: true });
  }

  function receipt(id: string): Response {
    const run = runs.get(id);
    return run ? json(operations.getReceipt, receiptOf(run)) : failure('not_found', 'No such run.');
  }

  function pastRun(id: string): Response {
    const started = working.get(id);
    if (started !== undefined) return json(operations.getRun, running(started));
    const run = runs.get(id);
    return run ? json(operations.getRun, run) : failure('not_found', 'No such run.');
  }

  function execute(request: Request, body: unknown, streamed: boolean): Response | Promise<Response> {
    const refused = standIn.failNextRun;
    standIn.failNextRun = undefined;
    if (refused) return failure(refused.code, refused.message, refused.retryAfterSeconds);
    const parsed = operations.execute.body.safeParse(body);
    if (!parsed.success) return failure('invalid_request', parsed.error.issues[0]?.message ?? 'invalid');
    const listing = known.get(parsed.data.agent_id);
    if (listing === undefined) return failure('listing_not_found', REFUSAL_TEXT.noSuchListing);
    const { rental = 'active' } = listing;
    const key = request.headers.get('idempotency-key') ?? crypto.randomUUID();
    const isTrial = rental === 'none' && listing.free_trial === true;
    if (rental === 'none' && !isTrial)
      return failure('credential_not_found', REFUSAL_TEXT.notRented(listing.id));
    if (isTrial && tried.has(listing.id) && !byKey.has(key))
      return failure('credential_not_found', REFUSAL_TEXT.trialUsed(listing.id));
    if (isTrial) tried.add(listing.id);
    if (rental === 'low_balance')
      return failure('insufficient_balance', REFUSAL_TEXT.lowBalance(BigInt(priceLamports(listing))));
    if (rental === 'expired') return failure('credential_expired', REFUSAL_TEXT.subscriptionExpired);

    const deltas = new TransformStream<string, string>(undefined, undefined, { highWaterMark: 1_000 });
    const writer = deltas.writable.getWriter();
    const started = byKey.get(key);
    // A cut stream's run goes on by itself, as it does behind a real connection that broke.
    const signal = standIn.cutNextStream ? new AbortController().signal : request.signal;
    const run =
      started ??
      runAgent(
        listing,
        { ...parsed.data, isTrial },
        signal,
        (delta) => void writer.write(delta).catch(ignore),
      );
    byKey.set(key, run);
    void run.end.then(
      () => writer.close().catch(ignore),
      () => writer.abort().catch(ignore),
    );
    if (streamed) return events(run.end, deltas.readable);
    if (request.headers.get('prefer')?.includes('respond-async') === true && working.has(run.id))
      return Response.json(running(run), { status: 202 });
    return run.end.then(
      (done) => json(operations.execute, done),
      () => failure('internal_error', 'The agent broke.'),
    );
  }

  const running = ({ id, agentId }: BegunRun) => ({
    run_id: id,
    agent_id: agentId,
    status: 'running' as const,
  });

  function runAgent(
    listing: StandInListing,
    { task, input, isTrial }: ExecuteBody & { isTrial: boolean },
    signal: AbortSignal,
    onDelta: (delta: string) => void,
  ): BegunRun {
    const isCharged = !isTrial && RENTAL_TERMS[listing.rental_model ?? 'per_query'].chargesRuns;
    const cost = isCharged ? priceLamports(listing) : 0;
    standIn.charged += cost;
    const run_id = `run_${runs.size + working.size + 1}`;
    const cancelled = new AbortController();
    const stop = new Promise<EndedRun>((resolve) => {
      const output = 'The run was cancelled.';
      const stopped = { ...facts(output), status: 'failed', stop_reason: 'cancelled' } as const;
      cancelled.signal.addEventListener('abort', () => resolve(stopped), { once: true });
    });
    const end = Promise.race([work(), stop]).finally(() => working.delete(run_id));
    const started: BegunRun = { id: run_id, agentId: listing.id, end, cancelled };
    working.set(run_id, started);
    end.then((run) => runs.set(run_id, run), ignore);
    return started;

    function facts(output: EndedRun['output']) {
      return {
        run_id,
        agent_id: listing.id,
        output,
        cost_lamports: cost,
        duration_ms: 12,
        ...(isTrial ? { trial: true } : {}),
      };
    }

    async function work(): Promise<EndedRun> {
      const steps = (listing.run ?? echo)({ task, input, signal });
      let step = await steps.next();
      while (!step.done) {
        onDelta(step.value);
        step = await steps.next();
      }
      const { status = 'completed', output } = step.value;
      return { ...facts(output), status };
    }
  }

  function events(run: Promise<EndedRun>, deltas: ReadableStream<string>): Response {
    const cut = standIn.cutNextStream;
    standIn.cutNextStream = false;
    const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    const encoder = new TextEncoder();
    async function* parts(): AsyncGenerator<Uint8Array> {
      for await (const delta of deltas) {
        yield encoder.encode(event('output', { delta }));
        if (cut) throw new TypeError('terminated');
      }
      const { agent_id: _, ...done } = await run;
      yield encoder.encode(event('done', done));
    }
    const source = parts();
    const stream = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const next = await source.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: async () => void (await source.return(undefined)),
    });
    return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
  }

  const standIn: StandIn = {
    fetch: async (input, init) => {
      const request = new Request(input, init);
      request.signal.throwIfAborted();
      const gone = new Promise<never>((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason as Error), {
          once: true,
        });
      });
      const response = await Promise.race([answer(request), gone]);
      // As a real `fetch` does: an abort ends the body too.
      const body = response.body?.pipeThrough(new TransformStream(), { signal: request.signal }) ?? null;
      return new Response(body, response);
    },
    requests: [],
    charged: 0,
    paid: 0,
    loseNextPayment: false,
    refuseNextPayment: undefined,
    cancelledKeys: [],
    cutNextStream: false,
    failNextRun: undefined,
    add: (listing) => void known.set(listing.id, listing),
    listen: () => listenNode(answer),
  };
  const payments = createPayments(known, standIn);
  return standIn;
}

async function* echo({
  task,
  input,
}: {
  task: string;
  input: ExecuteBody['input'];
}): ReturnType<StandInAgent> {
  yield 'working';
  return { output: { task, input: input ?? null } };
}

function purchasedAtMs({ purchased_at = '2026-01-01T00:00:00Z' }: StandInListing): number {
  return Date.parse(purchased_at);
}

function ignore(): void {
  // The reader is gone; the run's outcome is kept all the same.
}
