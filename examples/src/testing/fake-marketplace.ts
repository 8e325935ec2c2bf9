import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ERROR_STATUS,
  RENTAL_TERMS,
  listingTerms,
  manifest as manifestSchema,
  type CredentialVerification,
  type ErrorCode,
  type TransactionRequest,
} from '@agent-rental/contract';
import { PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { FakeAgent } from './fake-agent.js';
import { authority, propose } from './propose.js';
import { runAgent } from './run-agent.js';

/** A marketplace that keeps everything in memory and takes every signature for good. */
export interface FakeMarketplace {
  readonly url: string;
  readonly agents: Map<string, FakeAgent>;
  /** How each credential was paid, by wallet and listing. */
  readonly rentals: Map<string, TransactionRequest>;
  readonly apiKeys: Map<string, string>;
  /** Called when a request is done and before it is answered: the caller may never learn of it. */
  beforeAnswer: (route: string) => void;
  close(): Promise<void>;
}

class Refusal extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode) {
    super(`Refused: ${code}.`);
    this.code = code;
  }
}

interface Call {
  wallet: string;
  parts: string[];
  query: URLSearchParams;
  body: Record<string, unknown>;
}

export async function startFakeMarketplace(): Promise<FakeMarketplace> {
  const agents = new Map<string, FakeAgent>();
  const rentals: FakeMarketplace['rentals'] = new Map();
  const apiKeys = new Map<string, string>();
  const proposals = new Map<string, { wallet: string; request: TransactionRequest }>();
  let runs = 0;

  const published = (id: string | undefined): FakeAgent => {
    const agent = [...agents.values()].find(({ listingId }) => listingId === id);
    if (agent?.published !== true) throw new Refusal('listing_not_found');
    return agent;
  };
  const verification = (wallet: string, id: string): CredentialVerification => {
    const rental = rentals.get(`${wallet} ${id}`);
    return rental === undefined
      ? { listing_id: id, status: 'not_found', valid: false, on_chain_verified: false }
      : {
          listing_id: id,
          status: 'active',
          valid: true,
          on_chain_verified: true,
          rental_model: published(id).terms.rental_model,
          pda_address: wallet,
          balance_lamports: 1_000_000,
        };
  };
  const later = () => Math.floor(Date.now() / 1000) + 3600;
  const now = () => new Date().toISOString();

  const routes: Record<string, (call: Call) => unknown> = {
    'GET auth/challenge': ({ query }) => {
      const [issuedAt, nonce] = [Math.floor(Date.now() / 1000), randomBytes(32).toString('hex')];
      const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();
      const site = {
        domain: '127.0.0.1',
        address: query.get('wallet'),
        statement: 'Sign in.',
        uri: 'http://127.0.0.1',
        version: '1',
        chainId: 'solana:localnet',
      };
      const times = { issuedAt: timeOf(issuedAt), expirationTime: timeOf(issuedAt + 60) };
      const challenge = `agent-rental:auth:${issuedAt}:${nonce}`;
      return { challenge, expires_at: issuedAt + 60, sign_in: { ...site, nonce, ...times } };
    },
    'POST auth/token': ({ body }) => ({ token: `jwt-${String(body['wallet'])}`, expires_at: later() }),
    'POST api-keys': ({ wallet, body }) => {
      const key = `ark_dev_${randomBytes(8).toString('hex')}`;
      apiKeys.set(key, wallet);
      const id = key.slice(8, 12);
      const scopes = ['run', 'rent'];
      return { id, label: body['label'], scopes, key, policy: null, created_at: now(), revoked_at: null };
    },
    'POST agents': ({ wallet, body }) => {
      const { listing, model_key: modelKey, ...draft } = body;
      const manifest = manifestSchema.parse(draft);
      const jobId = `job_${agents.size}`;
      const webhookSecret = manifest.entrypoint_url && `whsec_${randomBytes(24).toString('base64')}`;
      agents.set(jobId, {
        listingId: `${manifest.name}-aaaaa${'abcdefghijklmnop'[agents.size]}`,
        creator: wallet,
        manifest,
        terms: listingTerms.parse(listing),
        modelKey: modelKey as string | undefined,
        webhookSecret,
        published: false,
        polls: 0,
      });
      return { job_id: jobId, status: 'queued', webhook_secret: webhookSecret };
    },
    'GET jobs': ({ parts }) => {
      const agent = agents.get(parts[2] ?? '');
      if (agent === undefined) throw new Refusal('not_found');
      const job = { job_id: parts[2], status: agent.polls === 0 ? 'queued' : 'completed' };
      agent.polls += 1;
      if (job.status === 'queued') return job;
      const result = { agent_id: agent.listingId, listing_id: agent.listingId };
      return { ...job, result, review: { state: 'approved', reasons: [] } };
    },
    'GET listings': ({ parts }) => describeListing(published(parts[2]), now()),
    'GET credentials': ({ wallet, parts }) => {
      if (parts[2] !== undefined) return verification(wallet, parts[2]);
      const ids = [...rentals.keys()].filter((key) => key.startsWith(wallet)).map((key) => key.split(' ')[1]);
      const credentials = ids.map((id) => ({
        listing_id: id,
        listing_title: id,
        rental_model: published(id).terms.rental_model,
        status: 'active',
        purchased_at: now(),
        expires_at: null,
        pda_address: wallet,
      }));
      return { credentials, total: credentials.length };
    },
    'POST transactions': ({ wallet, body }) => {
      const blockhash = bs58.encode(randomBytes(32));
      const request = body as TransactionRequest;
      proposals.set(blockhash, { wallet, request });
      const agent = [...agents.values()].find(({ listingId }) => listingId === request.listing_id);
      if (agent === undefined) throw new Refusal('listing_not_found');
      const { instruction, price, maxPrice } = propose(request, new PublicKey(wallet), agent.terms);
      const message = new TransactionMessage({
        payerKey: new PublicKey(wallet),
        recentBlockhash: blockhash,
        instructions: [instruction],
      }).compileToV0Message();
      const transaction = new VersionedTransaction(message);
      if (request.action === 'publish') transaction.sign([authority]);
      return {
        transaction: Buffer.from(transaction.serialize()).toString('base64'),
        message: 'A transaction.',
        chain: 'solana:localnet',
        payer: wallet,
        blockhash,
        last_valid_block_height: 1,
        quote: {
          price_lamports: Number(price),
          ...(maxPrice === undefined ? {} : { max_price_lamports: Number(maxPrice) }),
          rent_lamports: 1,
          network_fee_lamports: 5_000 * message.header.numRequiredSignatures,
        },
      };
    },
    'POST transactions/submit': ({ body }) => {
      const wire = Buffer.from(String(body['transaction']), 'base64');
      const { message } = VersionedTransaction.deserialize(wire);
      const { wallet, request } = proposals.get(message.recentBlockhash)!;
      const id = request.listing_id;
      const signature = '1'.repeat(64);
      if (request.action === 'publish') {
        const agent = [...agents.values()].find(({ listingId }) => listingId === id);
        if (agent === undefined) throw new Refusal('listing_not_found');
        // As on-chain: a listing is made once, and rented once by each wallet.
        if (agent.published) throw new Refusal('invalid_request');
        agent.published = true;
        return { signature, listing_id: id };
      }
      const key = `${wallet} ${id}`;
      if (rentals.has(key)) throw new Refusal('invalid_request');
      rentals.set(key, request);
      return { signature, listing_id: id, credential: verification(wallet, id) };
    },
    'POST execute': async ({ wallet, body }) => {
      const { agent_id: id, task, input } = body as { agent_id: string; task: string; input: unknown };
      const agent = published(id);
      if (!verification(wallet, id).valid) throw new Refusal('credential_not_found');
      const output = await runAgent(agent, task, input);
      const cost = RENTAL_TERMS[agent.terms.rental_model].chargesRuns ? agent.terms.price_lamports : 0;
      runs += 1;
      return {
        run_id: `run_${runs}`,
        agent_id: id,
        status: 'completed',
        output,
        cost_lamports: cost,
        duration_ms: 1,
      };
    },
  };

  const walletOf = (authorization = ''): string => {
    const token = authorization.replace('Bearer ', '');
    const wallet = token.startsWith('jwt-') ? token.slice(4) : apiKeys.get(token);
    if (wallet === undefined) throw new Refusal('invalid_api_key');
    return wallet;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', 'http://fake.invalid');
    const parts = url.pathname.split('/').slice(1);
    const pair = `${request.method} ${parts[1]}/${parts[2]}`;
    const route = pair in routes ? pair : `${request.method} ${parts[1]}`;
    const run = routes[route];
    if (run === undefined) throw new Refusal('not_found');
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const wallet = parts[1] === 'auth' ? '' : walletOf(request.headers.authorization);
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    const answer = await run({ wallet, parts, query: url.searchParams, body });
    fake.beforeAnswer(route);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  };
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      const code = error instanceof Refusal ? error.code : 'internal_error';
      const status = ERROR_STATUS[code];
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { code, message: String(error), status } }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fake: FakeMarketplace = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    agents,
    rentals,
    apiKeys,
    beforeAnswer: () => {},
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

function describeListing({ listingId, creator, manifest, terms }: FakeAgent, now: string): object {
  return {
    id: listingId,
    title: terms.title ?? manifest.name,
    description: manifest.description,
    category: [manifest.category],
    rental_model: terms.rental_model,
    price_sol: terms.price_lamports / 1e9,
    run_count: 0,
    success_rate: 1,
    creator: { id: creator, display_name: 'Creator', listing_count: 1 },
    rating: 0,
    review_count: 0,
    last_updated: now,
    sample_output: terms.sample_output ?? [],
    published_at: now,
    status: 'active',
    on_chain_address: creator,
    metadata_uri: 'ipfs://fake',
    price_lamports: terms.price_lamports,
    min_deposit_lamports: terms.min_deposit_lamports ?? 0,
    input_schema: manifest.input_schema,
    output_schema: manifest.output_schema,
  };
}
