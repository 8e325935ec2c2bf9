import { createAgentHandler, type AgentFunction } from '@agent-rental/sdk/creator';
import { publish } from '@agent-rental/sdk/solana';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { jobEnd, PRICE, rentAgent, textAgent } from '../support/agents/agents.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { startModelStandIn, type ModelCall, type ModelStandIn } from '../support/agents/model-stand-in.js';
import { newParticipant, type Participant } from '../support/participant.js';

const MODES = ['declarative', 'connected', 'connected, by events'] as const;
const ENDPOINTS = ['/v1/execute', '/v1/execute/stream'] as const;
const SCHEMAS = {
  text: { type: 'string' },
  object: { type: 'object', required: ['total'], properties: { total: { type: 'number' } } },
  // Of agents that are not there: their next run is free, so each has one.
  gone: { type: 'string' },
  'gone while streaming': { type: 'string' },
} as const;

type Mode = (typeof MODES)[number];
type Form = keyof typeof SCHEMAS;

/** The behaviour of one agent for a task, the same in each mode. */
interface Behaviour {
  form: Form;
  /** Of the request, beside the task. */
  request?: Record<string, unknown>;
  /** The endpoint answers as a gateway does behind which it is gone. */
  isGone?: boolean;
  /** As the model of a declarative agent. */
  model(call: ModelCall): void;
  /** As a creator's endpoint that answers in JSON. */
  json: AgentFunction;
  /** As one that answers in events. */
  events: AgentFunction;
  /** The renter's request while the agent works. */
  meanwhile?: (key: string) => Promise<Seen>;
}

/** An answer as a renter sees it, without the parts that differ from run to run. */
interface Seen {
  status: number;
  headers: Record<string, string>;
  text: string;
}

let stateDir: string;
let marketplace: OwnMarketplace;
let model: ModelStandIn;
let renter: Participant;
const listings = new Map<string, string>();
/** The present behaviour of the agents, and the callback for a started one. */
let playing: Behaviour;
let started: () => void = () => undefined;
/** Resolves when a stream has started. */
let headersLeft: Promise<void>;
let headersCame: () => void = () => undefined;

const idOf = (mode: Mode, form: Form): string => listings.get(`${mode} ${form}`) ?? '';

async function* pieces(...texts: string[]): AsyncGenerator<string, undefined> {
  yield* texts;
  return undefined;
}

// eslint-disable-next-line require-yield
async function* only(output: object): AsyncGenerator<string, object> {
  return output;
}

const never = () => new Promise<never>(() => undefined);

/** Puts an agent on sale that is made in this way. */
async function sell(creator: Participant, mode: Mode, form: Form): Promise<void> {
  // No sample is given: a run makes it.
  playing = form === 'object' ? BEHAVIOURS['answers in its form'][0] : BEHAVIOURS['answers in text'][0];
  const path = `/${encodeURIComponent(form)}/${mode === 'connected' ? 'json' : 'events'}`;
  const url = new URL(path, model.baseUrl).href;
  const { system_prompt, ...manifest } = textAgent(model.baseUrl, {
    model_key: 'key',
    output_schema: SCHEMAS[form],
    listing: { rental_model: 'per_query', price_lamports: PRICE },
  });
  const { model_key: _, ...keyless } = manifest as typeof manifest & { model_key: string };
  const registering = creator.client.registerAgent(
    mode === 'declarative'
      ? { ...manifest, system_prompt }
      : { ...keyless, model: { provider: 'self_hosted', endpoint_url: url }, entrypoint_url: url },
  );
  // Before the registration is answered: it is called for a sample as soon as it is registered.
  if (mode !== 'declarative') {
    const handle = createAgentHandler({
      webhookSecret: async () => (await registering).webhook_secret,
      run: (task, context) => {
        started();
        return mode === 'connected' ? playing.json(task, context) : playing.events(task, context);
      },
    });
    endpoints.set(path, handle);
  }
  const job = await jobEnd(creator.client, (await registering).job_id);
  if (!job.result) throw new Error(JSON.stringify(job.error));
  const { listing_id: id } = job.result;
  await publish(creator.client, creator.signer, id);
  await rentAgent(renter, id);
  listings.set(`${mode} ${form}`, id);
}

const endpoints = new Map<string, (request: Request) => Promise<Response>>();

beforeAll(async () => {
  stateDir = await newStateDir();
  model = await startModelStandIn();
  model.answerOthers(async (request) => {
    const handle = endpoints.get(new URL(request.url).pathname);
    if (!playing.isGone) return handle?.(request) ?? new Response(null, { status: 404 });
    await headersLeft;
    return new Response(null, { status: 503 });
  });
  marketplace = await startMarketplace(stateDir, withoutExamples(model.baseUrl));
  const creator = await newParticipant(marketplace);
  renter = await newParticipant(marketplace);
  void (async () => {
    for (;;) {
      const call = await model.nextCall();
      started();
      playing.model(call);
    }
  })();
  for (const form of Object.keys(SCHEMAS) as Form[]) {
    for (const mode of MODES) await sell(creator, mode, form);
  }
});
afterAll(async () => {
  await marketplace?.stop();
  await model?.close();
  await removeStateDir(stateDir);
});

/** Headers that differ between two runs of the same agent, too. */
const CHANGING = new Set(['date', 'content-length', 'x-ratelimit-remaining', 'x-ratelimit-reset']);

const alike = (text: string): string =>
  [...listings.values()]
    .reduce((left, id) => left.replaceAll(id, '<agent>'), text)
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '<id>')
    .replaceAll(/"duration_ms":\d+/g, '"duration_ms":0')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');

async function ask(method: string, path: string, body?: unknown, key?: string): Promise<Seen> {
  const response = await fetch(marketplace.dev.base_url + path, {
    method,
    headers: {
      authorization: `Bearer ${renter.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  headersCame();
  const headers: Record<string, string> = {};
  for (const [name, value] of response.headers) headers[name] = CHANGING.has(name) ? '' : alike(value);
  return { status: response.status, headers, text: alike(await response.text()) };
}

let keys = 0;

/** All that a renter sees of one run: the answer, the request in the meantime, and the stored run. */
async function seenOf(behaviour: Behaviour, mode: Mode, path: string): Promise<Seen[]> {
  playing = behaviour;
  keys += 1;
  const key = `modes-${keys}`;
  const hasBegun = new Promise<void>((resolve) => (started = resolve));
  headersLeft = new Promise((resolve) => (headersCame = resolve));
  if (path === '/v1/execute') headersCame();
  const body = {
    agent_id: idOf(mode, behaviour.form),
    task: 'Do it.',
    input: { text: 'x' },
    ...behaviour.request,
  };
  const answering = ask('POST', path, body, key);
  const seen: Seen[] = [];
  if (behaviour.meanwhile) {
    await hasBegun;
    seen.push(await behaviour.meanwhile(key));
  }
  seen.unshift(await answering);
  const { runs } = (await renter.client.listRuns({ agent_id: body.agent_id, limit: 1 })) as unknown as {
    runs: { run_id: string }[];
  };
  const record = () => ask('GET', `/v1/runs/${runs[0]?.run_id}`);
  // A credit follows the answer that tells of it, once the charge is confirmed.
  const isCredited = seen[0]?.text.includes('next run of it is free') === true;
  seen.push(
    isCredited
      ? await vi.waitUntil(
          async () => {
            const kept = await record();
            return kept.text.includes('"credited":true') && kept;
          },
          { timeout: 20_000, interval: 50 },
        )
      : await record(),
  );
  return seen;
}

/** The endpoint is unreachable, or refuses the key. A stream has started by then. */
const absent = (form: Form): Behaviour => ({
  form,
  isGone: true,
  model: (call) => void headersLeft.then(() => call.refuse(401, 'Your key is dead.')),
  json: never,
  events: never,
});

/** The agents' behaviours, with the text that every renter reads. */
const BEHAVIOURS = {
  'answers in text': [
    {
      form: 'text',
      model: (call) => call.answer('An answer.'),
      json: () => 'An answer.',
      events: () => pieces('An answer.'),
    },
    'An answer.',
  ],
  'answers in its form': [
    {
      form: 'object',
      model: (call) => call.answer('{"total":3}'),
      json: () => ({ total: 3 }),
      events: () => only({ total: 3 }),
    },
    'total',
  ],
  'cannot do the task': [
    {
      form: 'text',
      model: (call) => call.decline(),
      json: () => Promise.reject(new Error('no')),
      events: async function* () {
        yield* [];
        throw new Error('no');
      },
    },
    'The agent could not do the task.',
  ],
  'takes too long': [
    { form: 'text', request: { timeout_seconds: 1 }, model: () => undefined, json: never, events: never },
    'The agent did not finish within 1 s.',
  ],
  'answers in another form than it declares': [
    {
      form: 'object',
      model: (call) => call.answer('{"total":"three"}'),
      json: () => ({ total: 'three' }),
      events: () => only({ total: 'three' }),
    },
    "The agent's answer does not have the form it declares.",
  ],
  'is given an input that it does not take': [
    {
      form: 'text',
      request: { input: 'text' },
      model: () => undefined,
      json: never,
      events: never,
    },
    'invalid_request',
  ],
  'is stopped by its renter': [
    {
      form: 'text',
      model: () => undefined,
      json: never,
      events: never,
      meanwhile: (key) => ask('POST', '/v1/runs/cancel', { idempotency_key: key }),
    },
    'The run was cancelled.',
  ],
} satisfies Record<string, [behaviour: Behaviour, shown: string]>;

/** For each mode of the agent, its renter sees the same answer, with this text in it. */
async function expectAlike(behaviour: Behaviour, path: string, shown: string): Promise<void> {
  const seen: Partial<Record<Mode, Seen[]>> = {};
  for (const mode of MODES) seen[mode] = await seenOf(behaviour, mode, path);
  expect(JSON.stringify(seen.declarative)).toContain(shown);
  for (const mode of MODES) expect(seen[mode], mode).toEqual(seen.declarative);
}

describe.each(Object.entries<[Behaviour, string]>(BEHAVIOURS))(
  'an agent that %s',
  (_, [behaviour, shown]) => {
    test.each(ENDPOINTS)('looks the same on %s, however it is made [EXE-34, EXE-31]', async (path) => {
      await expectAlike(behaviour, path, shown);
    });
  },
);

test.each([
  ['/v1/execute', 'gone'],
  ['/v1/execute/stream', 'gone while streaming'],
] as const)(
  'an agent that is not there looks the same on %s, however it is made [EXE-34]',
  async (path, form) => {
    // A run is charged at its start, and a stream begins with that, where the agent was reached before.
    const present: Behaviour = {
      form,
      model: (call) => call.answer('An answer.'),
      json: () => 'An answer.',
      events: () => pieces('An answer.'),
    };
    for (const mode of MODES) await seenOf(present, mode, '/v1/execute');
    await expectAlike(absent(form), path, 'service_unavailable');
  },
);

test.each(Object.keys(SCHEMAS) as Form[])(
  'its listing of %s is equal but for id, keys and times, its sample included, however it is made [REG-15]',
  async (form) => {
    const faces = [];
    for (const mode of MODES) {
      const id = idOf(mode, form);
      const listing = await renter.client.getListing(id);
      expect(listing.sample_output).toHaveLength(1);
      const found = (await renter.client.searchListings({ limit: 100 })).listings.find(
        (one) => one.id === id,
      );
      const { on_chain_address: _, metadata_uri: __, ...shown } = listing;
      faces.push({
        listing: alike(JSON.stringify({ ...shown, run_count: 0, success_rate: 0 })),
        found: alike(JSON.stringify({ ...found, run_count: 0, success_rate: 0 })),
        tools: alike(
          JSON.stringify(
            (await renter.client.listTools({ format: 'json_schema' })).tools.find((tool) =>
              JSON.stringify(tool).includes(id),
            ),
          ),
        ).replaceAll(/[a-z_]+_[a-z2-7]{6}/g, '<name>'),
      });
    }
    for (const face of faces) expect(face).toEqual(faces[0]);
  },
);

test('its listing, its credential and its receipt have the same fields, however it is made [EXE-34]', async () => {
  const fields = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([name, inner]) => [name, fields(inner)])
      : typeof value;
  const faces = [];
  for (const mode of MODES) {
    const id = idOf(mode, 'text');
    const { runs } = await renter.client.listRuns({ agent_id: id, limit: 50 });
    const completed = runs.find(({ status }) => status === 'completed');
    faces.push({
      listing: fields(await renter.client.getListing(id)),
      found: fields(
        (await renter.client.searchListings({ limit: 100 })).listings.find((one) => one.id === id),
      ),
      credential: fields(await renter.client.verifyCredential(id)),
      receipt: fields(await renter.client.getReceipt(completed?.run_id ?? '')),
    });
  }
  for (const face of faces) expect(face).toEqual(faces[0]);
});
