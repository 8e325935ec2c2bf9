import type { OperationId } from './operations.js';

const listingId = 'invoice-reader-k3x7qa';
const wallet = '7o5JQKMq5qJ7FntBcZW6cyTxW9ZGpiXeKEYCHjCnfuPk';
const signature = '2'.repeat(88);
const transaction = 'AQAB';

const creator = { id: wallet, display_name: '7o5J...fuPk', listing_count: 3 };
const summary = {
  id: listingId,
  title: 'Invoice reader',
  description: 'Reads invoices and lists the amounts due.',
  category: ['finance'],
  rental_model: 'per_query',
  price_sol: 0.00025,
  run_count: 12,
  success_rate: 0.75,
  creator,
  rating: 4.5,
  review_count: 2,
  last_updated: '2026-01-05T10:00:00.000Z',
  median_ms: 2_310,
  sample_output: ['Two invoices are due.'],
};
const review = {
  reviewer: wallet,
  rating: 5,
  comment: 'Found the invoice that we had missed.',
  paid_runs: 12,
  created_at: '2026-01-05T10:00:00.000Z',
  updated_at: '2026-01-05T10:00:00.000Z',
};
const answered = {
  ...review,
  answer: { text: 'Thank you. It also reads scans now.', answered_at: '2026-01-06T08:00:00.000Z' },
};
const credential = {
  listing_id: listingId,
  rental_model: 'per_query',
  status: 'active',
  pda_address: wallet,
  balance_lamports: 2_250_000,
};
const task = {
  agent_id: listingId,
  task: 'List the amounts due this month.',
  input: { invoices: ['…'] },
};
const run = {
  run_id: '487b6754-55c3-4183-8c32-2d1f8e6a057b',
  agent_id: listingId,
  status: 'completed',
  output: 'Two invoices are due.',
  cost_lamports: 250_000,
  duration_ms: 812,
};
const nonce = 'f'.repeat(64);
const challenge = `agent-rental:auth:1767607200:${nonce}`;
const apiKey = {
  id: run.run_id,
  label: 'my agent',
  scopes: ['run', 'publish'],
  policy: {
    max_run_lamports: 1_000_000,
    max_day_lamports: 20_000_000,
    listing_ids: [listingId],
    can_rent: false,
    ask_above_lamports: 500_000,
  },
  created_at: '2026-01-05T10:00:00.000Z',
  revoked_at: null,
};
const approval = {
  id: '0b0f4d5e-6c1a-4f0e-9a53-2f6f3a1c7d10',
  kind: 'run',
  lamports: 20_000_000,
  listing_id: listingId,
  listing_title: 'Invoice reader',
  api_key_label: apiKey.label,
  state: 'open',
  created_at: '2026-01-05T10:00:00.000Z',
  expires_at: '2026-01-05T11:00:00.000Z',
};
const earnings = {
  earned_lamports: 2_925_000,
  earned_sol: 0.002925,
  withdrawable_lamports: 975_000,
  withdrawable_sol: 0.000975,
  pending_lamports: 250_000,
  pending_sol: 0.00025,
};
const running = { run_id: run.run_id, agent_id: listingId, status: 'running' };
const cancelled = { ...run, status: 'failed', output: 'The run was cancelled.', stop_reason: 'cancelled' };
const file = {
  file_id: run.run_id,
  input_uri: `agent-rental://files/${run.run_id}`,
  media_type: 'text/csv',
  size_bytes: 2_400_000,
  created_at: '2026-01-05T10:00:00.000Z',
  expires_at: '2026-01-06T10:00:00.000Z',
};

const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const email = { configured: true, address: 'ada@example.com', confirmed: true };
const webhook = {
  id: '0198c0de-5a1e-4f00-8000-00000000000a',
  url: 'https://example.com/hooks/agent-rental',
  events: ['run.completed', 'run.failed'],
  created_at: '2026-01-05T09:00:00.000Z',
};
const delivery = {
  event_id: '0198c0de-5a1e-4f00-8000-000000000001',
  name: 'run.completed',
  subject: `run:${run.run_id}`,
  created_at: '2026-01-05T10:00:00.812Z',
  status: 'delivered',
  attempts: [{ at: '2026-01-05T10:00:00.850Z', duration_ms: 81, http_status: 204 }],
};
/** Example input and output of an operation. */
export interface OperationExample {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly response: unknown;
  readonly accepted?: unknown;
}

/** One example for every operation. Tests validate them by the schemas. */
export const operationExamples: Readonly<Record<OperationId, OperationExample>> = {
  getChallenge: {
    query: { wallet, sign_in: 'true' },
    response: {
      challenge,
      expires_at: 1_767_607_260,
      sign_in: {
        domain: 'marketplace.example',
        address: wallet,
        statement: 'Sign in to the agent rental marketplace.',
        uri: 'https://marketplace.example',
        version: '1',
        chainId: 'solana:devnet',
        nonce,
        issuedAt: '2026-01-05T10:00:00.000Z',
        expirationTime: '2026-01-05T10:01:00.000Z',
      },
    },
  },
  createToken: {
    body: { wallet, challenge, signature },
    response: { token: 'eyJhbGciOiJFZERTQSJ9.e30.c2ln', expires_at: 1_767_610_800 },
  },
  getNetwork: {
    response: {
      network: 'devnet',
      program_id: 'AgentRenta1Market11111111111111111111111111',
      genesis_hash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
      rpc_url: 'https://api.devnet.solana.com',
      protocol_account: wallet,
      payment_recipient: wallet,
      fee_bps: 250,
      min_query_price_lamports: 200_000,
      unserved_tools: [],
    },
  },
  createApiKey: {
    body: { label: apiKey.label, scopes: apiKey.scopes, policy: apiKey.policy, challenge, signature },
    response: { ...apiKey, key: 'ark_dev_0123456789' },
  },
  listApiKeys: { response: { api_keys: [apiKey] } },
  revokeApiKey: {
    params: { key_id: apiKey.id },
    response: { ...apiKey, revoked_at: '2026-01-06T10:00:00.000Z' },
  },
  listApprovals: { response: { approvals: [approval] } },
  getApproval: { params: { approval_id: approval.id }, response: approval },
  answerApproval: {
    params: { approval_id: approval.id },
    body: { answer: 'approve', challenge, signature },
    response: { ...approval, state: 'approved', expires_at: '2026-01-05T10:12:00.000Z' },
  },
  connectApp: {
    body: {
      request: {
        response_type: 'code',
        client_id: 'https://app.example/oauth/client.json',
        redirect_uri: 'https://app.example/callback',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
        scope: 'run rent',
        state: 'af0ifjsldkj',
        resource: 'https://marketplace.example/mcp',
      },
      wallet,
      scopes: ['run'],
      policy: { max_day_lamports: 100_000_000 },
      challenge,
      signature,
    },
    response: {
      redirect_to:
        'https://app.example/callback?code=c2VjcmV0&state=af0ifjsldkj&iss=https%3A%2F%2Fmarketplace.example',
    },
  },
  searchListings: {
    query: { q: 'invoices', rental_model: 'per_query', limit: 10 },
    response: { listings: [summary], total: 1, limit: 10, offset: 0 },
  },
  getListing: {
    params: { id: listingId },
    query: { version: 1 },
    response: {
      ...summary,
      published_at: '2026-01-01T10:00:00.000Z',
      status: 'active',
      on_chain_address: wallet,
      metadata_uri: 'ipfs://baguqeera',
      price_lamports: 250_000,
      min_deposit_lamports: 250_000,
      input_schema: { type: 'object' },
      output_schema: { type: 'string' },
    },
  },
  listVersions: {
    params: { id: listingId },
    response: {
      versions: [
        {
          version: 2,
          created_at: '2026-01-05T10:00:00.000Z',
          change: { kind: 'compatible', reasons: [] },
          notes: 'Reads invoices in French, too.',
        },
        { version: 1, created_at: '2026-01-01T10:00:00.000Z', change: null },
      ],
    },
  },
  createReview: {
    params: { id: listingId },
    body: { rating: review.rating, comment: review.comment },
    response: review,
  },
  listReviews: {
    params: { id: listingId },
    query: { limit: 10 },
    response: {
      reviews: [answered],
      total: 1,
      rating_counts: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 1 },
      limit: 10,
      offset: 0,
    },
  },
  answerReview: {
    params: { id: listingId, reviewer: wallet },
    body: { text: answered.answer.text },
    response: answered,
  },
  deleteReviewAnswer: { params: { id: listingId, reviewer: wallet }, response: review },
  createReport: {
    params: { id: listingId },
    body: { reason: 'fraud', text: 'It asks for the seed phrase of the wallet.' },
    response: {
      report_id: '6f1c0c4e-6f0b-4d53-9d0e-5f6f3a2b1c0d',
      listing_id: listingId,
      reason: 'fraud',
      created_at: '2026-01-05T10:00:00.000Z',
    },
  },
  updateCreator: {
    body: { display_name: 'Ledger Works' },
    response: { ...creator, display_name: 'Ledger Works' },
  },
  listCredentials: {
    query: { status: 'active', include: 'listing' },
    response: {
      credentials: [
        {
          ...credential,
          listing_title: 'Invoice reader',
          purchased_at: '2026-01-05T10:00:00.000Z',
          expires_at: null,
          listing: {
            description: 'Reads invoices and lists the amounts due.',
            price_lamports: 2_000_000,
            input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
          },
        },
      ],
      total: 1,
    },
  },
  verifyCredential: {
    params: { listing_id: listingId },
    response: { ...credential, valid: true, on_chain_verified: true },
  },
  pinVersion: {
    params: { listing_id: listingId },
    body: { version: 1 },
    response: { listing_id: listingId, scope: 'wallet', pinned_version: 1, latest_version: 2 },
  },
  registerAgent: {
    body: {
      name: 'invoice-reader',
      category: 'finance',
      description: 'Reads invoices and lists the amounts due.',
      model: { provider: 'openai', model: 'gpt-4.1-mini' },
      system_prompt: 'You read invoices.',
      input_schema: { type: 'object' },
      output_schema: { type: 'string' },
      listing: {
        rental_model: 'per_query',
        price_lamports: 250_000,
        sample_output: ['Two invoices are due.'],
        health_checks: true,
        free_trial: true,
      },
      model_key: 'sk-…',
    },
    response: { job_id: run.run_id, status: 'queued' },
  },
  listAgents: {
    query: { limit: 10 },
    response: {
      agents: [
        {
          listing_id: listingId,
          title: 'Invoice reader',
          status: 'active',
          version: 2,
          rental_model: 'per_query',
          price_lamports: 250_000,
          created_at: '2026-01-05T10:00:00.000Z',
          updated_at: '2026-01-06T10:00:00.000Z',
          unreachable: {
            reason: 'model_key_refused',
            http_status: 401,
            message: "The model refused the request: it answered 401. See that the model's name is right.",
            since: '2026-01-06T11:00:00.000Z',
            checked_at: '2026-01-06T11:20:00.000Z',
          },
        },
      ],
      total: 1,
      limit: 10,
      offset: 0,
    },
  },
  updateAgent: {
    params: { listing_id: listingId },
    body: { system_prompt: 'You read invoices with care.', timeout_seconds: 90 },
    response: { job_id: run.run_id, status: 'queued' },
  },
  rollbackAgent: {
    params: { listing_id: listingId },
    body: { version: 1 },
    response: { job_id: run.run_id, status: 'queued', change: { kind: 'compatible', reasons: [] } },
  },
  deleteAgent: {
    params: { listing_id: listingId },
    response: { listing_id: listingId, deleted: true },
  },
  setModelKey: {
    params: { id: listingId },
    body: { model_key: 'sk-…' },
    response: { listing_id: listingId, updated_at: '2026-01-05T10:00:00.000Z' },
  },
  listAgentRuns: {
    params: { listing_id: listingId },
    query: { limit: 10 },
    response: {
      runs: [
        {
          run_id: run.run_id,
          status: 'undelivered',
          version: 2,
          duration_ms: null,
          created_at: '2026-01-05T10:00:00.000Z',
          finished_at: '2026-01-05T10:00:00.812Z',
          failure: { class: 'model_refused', http_status: 401, message: 'The model answered 401.' },
        },
      ],
      total: 1,
      limit: 10,
      offset: 0,
    },
  },
  getAgentStats: {
    params: { listing_id: listingId },
    query: { window: '7d' },
    response: {
      listing_id: listingId,
      window: '7d',
      since: '2026-01-05T00:00:00.000Z',
      runs: { total: 412, completed: 398, failed: 11, undelivered: 3 },
      duration_ms: { p50: 812, p95: 4_210 },
      failures: [
        { class: 'timed_out', count: 11 },
        { class: 'endpoint_unreachable', count: 3 },
      ],
      refusals: { no_slot: 0, rate_limit: 7, insufficient_balance: 2 },
      views: 420,
      rentals: 12,
      health: {
        is_checked: true,
        checked_at: '2026-01-11T02:41:07.000Z',
        failed_days: 0,
        problem: null,
        failing_since: null,
        hidden_since: null,
      },
      series: [
        {
          started_at: '2026-01-05T00:00:00.000Z',
          completed: 398,
          failed: 11,
          undelivered: 3,
          duration_ms: { p50: 812, p95: 4_210 },
          earned_lamports: 99_693_750,
        },
      ],
    },
  },
  getAgentsStats: {
    query: { window: '7d' },
    response: {
      window: '7d',
      since: '2026-01-05T00:00:00.000Z',
      series: [
        {
          started_at: '2026-01-05T00:00:00.000Z',
          completed: 398,
          failed: 11,
          undelivered: 3,
          earned_lamports: 99_693_750,
        },
      ],
      agents: [
        { listing_id: listingId, completed: 398, failed: 11, undelivered: 3, earned_lamports: 99_693_750 },
      ],
    },
  },
  rotateWebhookSecret: {
    params: { id: listingId },
    response: {
      listing_id: listingId,
      webhook_secret: 'whsec_…',
      previous_valid_until: '2026-01-06T10:00:00.000Z',
    },
  },
  getOperatorOverview: {
    response: {
      ready: true,
      reasons: [],
      waiting_reviews: 1,
      admin: wallet,
      days: [
        {
          started_at: '2026-01-05T00:00:00.000Z',
          completed: 12,
          failed: 3,
          undelivered: 0,
          earned_lamports: 2_925_000,
          fee_lamports: 75_000,
        },
      ],
    },
  },
  listOperatorReviews: {
    response: {
      reviews: [
        {
          listing_id: listingId,
          version: 1,
          creator: wallet,
          title: 'Invoice reader',
          description: 'Reads invoices and lists the amounts due.',
          category: ['finance'],
          rental_model: 'per_query',
          price_lamports: 250_000,
          unreachable: null,
          created_at: '2026-01-05T10:00:00.000Z',
        },
      ],
      total: 1,
    },
  },
  listOperatorReports: {
    response: {
      listings: [
        {
          listing_id: listingId,
          title: 'Invoice reader',
          creator: wallet,
          status: 'active',
          open: 1,
          reasons: { broken: 1 },
          closed: 0,
          oldest_at: '2026-01-05T10:00:00.000Z',
          reports: [
            { wallet, reason: 'broken', text: 'It answers nothing.', created_at: '2026-01-05T10:00:00.000Z' },
          ],
        },
      ],
    },
  },
  findForOperator: {
    query: { id: listingId },
    response: { kind: 'listing', found: { listing_id: listingId, status: 'active' } },
  },
  listOperatorActions: {
    response: {
      actions: [
        {
          id: 12,
          action: 'reject',
          subject: listingId,
          reason: 'The description names no output.',
          operator: wallet,
          signature,
          created_at: '2026-01-05T10:00:00.000Z',
        },
      ],
    },
  },
  decideAsOperator: {
    body: { action: 'reject', listing_id: listingId, reason: 'The description names no output.' },
    response: { decided: true },
  },
  getEarnings: {
    query: { limit: 10 },
    response: {
      earnings: [{ listing_id: listingId, title: 'Invoice reader', status: 'active', ...earnings }],
      total: 1,
      sum: earnings,
    },
  },
  getJob: {
    params: { job_id: run.run_id },
    response: {
      job_id: run.run_id,
      status: 'completed',
      result: { agent_id: listingId, listing_id: listingId },
      review: { state: 'approved', reasons: [] },
      warnings: [{ path: 'input_schema', message: 'has no description of its members' }],
      next_action: {
        method: 'POST',
        path: '/v1/transactions',
        body: { action: 'publish', listing_id: listingId },
      },
    },
  },
  createTransaction: {
    body: { action: 'rent', listing_id: listingId, deposit_lamports: 2_500_000 },
    response: {
      transaction,
      message: `Rent ${listingId}`,
      chain: 'solana:devnet',
      payer: wallet,
      blockhash: wallet,
      last_valid_block_height: 300,
      sign_within_seconds: 20,
      quote: { price_lamports: 2_500_000, rent_lamports: 4_000_000, network_fee_lamports: 5_000 },
    },
  },
  submitTransaction: {
    body: { transaction },
    response: {
      signature,
      listing_id: listingId,
      credential: { ...credential, valid: true, on_chain_verified: true },
    },
  },
  execute: { body: task, response: run, accepted: running },
  executeStream: {
    body: task,
    response:
      'event: output\ndata: {"delta":"Two invoices are due."}\n\n' +
      'event: done\ndata: {"run_id":"487b6754-55c3-4183-8c32-2d1f8e6a057b","status":"completed",' +
      '"cost_lamports":250000,"duration_ms":812,"output":"Two invoices are due."}\n\n',
  },
  getRun: { params: { run_id: run.run_id }, response: run },
  listTools: {
    query: { format: 'openai', limit: 10 },
    response: {
      format: 'openai',
      tools: [
        {
          type: 'function',
          function: {
            name: 'invoice_reader_k3x7qa',
            description: 'Rented agent "Invoice reader". Each call charges 0.002 SOL, also when it fails.',
            parameters: {
              type: 'object',
              properties: {
                agent_id: { type: 'string', enum: [listingId] },
                task: { type: 'string' },
                input: { type: 'object' },
                input_uri: { type: 'string' },
              },
              required: ['agent_id', 'task'],
            },
          },
        },
      ],
      total: 1,
      limit: 10,
      offset: 0,
    },
  },
  createFile: { response: file },
  getFile: { params: { file_id: file.file_id }, response: file },
  deleteFile: { params: { file_id: file.file_id }, response: { file_id: file.file_id, deleted: true } },
  listEvents: {
    query: { types: 'run.completed', limit: 10 },
    response: {
      events: [
        {
          id: '0198c0de-5a1e-4f00-8000-000000000001',
          name: 'run.completed',
          subject: `run:${run.run_id}`,
          sequence: 1,
          created_at: '2026-01-05T10:00:00.812Z',
          data: { run_id: run.run_id, listing_id: listingId, status: 'completed' },
        },
      ],
      cursor: '1767607200812000',
    },
  },
  listWebhooks: { response: { webhooks: [webhook] } },
  createWebhook: {
    body: { url: webhook.url, events: webhook.events },
    response: { ...webhook, secret: WEBHOOK_SECRET },
  },
  updateWebhook: {
    params: { webhook_id: webhook.id },
    body: { events: null },
    response: { id: webhook.id, url: webhook.url, created_at: webhook.created_at },
  },
  deleteWebhook: { params: { webhook_id: webhook.id }, response: webhook },
  rotateWebhook: {
    params: { webhook_id: webhook.id },
    response: { ...webhook, secret: WEBHOOK_SECRET },
  },
  testWebhook: {
    params: { webhook_id: webhook.id },
    response: { at: '2026-01-05T10:00:01.000Z', duration_ms: 81, http_status: 204 },
  },
  listDeliveries: {
    params: { webhook_id: webhook.id },
    query: { limit: 10 },
    response: { deliveries: [delivery] },
  },
  redeliver: {
    params: { webhook_id: webhook.id, event_id: delivery.event_id },
    response: { ...delivery, status: 'pending', next_attempt_at: '2026-01-05T10:05:00.000Z' },
  },
  getEventSettings: { response: { low_balance_runs: 10 } },
  setEventSettings: { body: { low_balance_runs: 25 }, response: { low_balance_runs: 25 } },
  getEmail: { response: email },
  setEmail: { body: { address: email.address }, response: { ...email, confirmed: false } },
  confirmEmail: { body: { token: 'A1b2'.repeat(11).slice(1) }, response: email },
  deleteEmail: { response: { configured: true, confirmed: false } },
  listRuns: {
    query: { agent_id: listingId, limit: 10 },
    response: {
      runs: [
        {
          run_id: run.run_id,
          agent_id: listingId,
          status: 'completed',
          cost_lamports: 250_000,
          duration_ms: 812,
          created_at: '2026-01-05T10:00:00.000Z',
          finished_at: '2026-01-05T10:00:00.812Z',
        },
      ],
      total: 1,
      limit: 10,
      offset: 0,
    },
  },
  getSpending: {
    query: { window: '7d' },
    response: {
      window: '7d',
      since: '2026-01-05T00:00:00.000Z',
      sum: { completed: 41, failed: 2, undelivered: 1, spent_lamports: 10_750_000 },
      series: [
        {
          started_at: '2026-01-05T00:00:00.000Z',
          completed: 41,
          failed: 2,
          undelivered: 1,
          spent_lamports: 10_750_000,
        },
      ],
      agents: [
        {
          listing_id: listingId,
          listing_title: 'Invoice reader',
          completed: 41,
          failed: 2,
          undelivered: 1,
          spent_lamports: 10_750_000,
        },
      ],
    },
  },
  getReceipt: {
    params: { run_id: run.run_id },
    query: { include: 'transaction' },
    response: {
      receipt: {
        version: 1,
        run_id: run.run_id,
        wallet,
        listing_id: listingId,
        status: 'completed',
        cost_lamports: 250_000,
        charge_signature: signature,
        credited: false,
        network: 'devnet',
        program_id: wallet,
        input_digest: 'a'.repeat(64),
        output_digest: 'b'.repeat(64),
        started_at: '2026-01-05T10:00:00.000Z',
        finished_at: '2026-01-05T10:00:00.812Z',
      },
      salt: '00112233445566778899aabbccddeeff',
      jws: 'eyJhbGciOiJFZERTQSJ9.e30.c2ln',
      log: { status: 'charged', signature },
      evidence: { transaction: null, authorities: [wallet] },
    },
  },
  cancelRun: { params: { run_id: run.run_id }, response: { cancelled: true, run: cancelled } },
  cancelRunByKey: { body: { idempotency_key: 'order-1842' }, response: { cancelled: true } },
};
