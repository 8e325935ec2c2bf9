import * as z from 'zod';
import { connectAppBody, connectedApp } from '../identity/apps.js';
import { CONFIRMATION_HEADER_NOTES } from '../identity/confirmed-change.js';
import {
  credentialVerification,
  listCredentialsQuery,
  listCredentialsResponse,
  pinnedVersion,
  pinVersionBody,
} from '../rentals/credential.js';
import { earningsQuery, earningsResponse } from '../rentals/earnings.js';
import {
  cancelByKeyBody,
  cancellation,
  doneEvent,
  executeBody,
  listRunsQuery,
  listRunsResponse,
  outputEvent,
  run,
  runningRun,
  runState,
} from '../runs/execution.js';
import { deletedFile, storedFile } from '../runs/files.js';
import { network } from '../rentals/network.js';
import {
  apiKey,
  challenge,
  challengeQuery,
  createApiKeyBody,
  createdApiKey,
  listApiKeysResponse,
  token,
  tokenRequest,
} from '../identity/identity.js';
import {
  answerApprovalBody,
  listApprovalsResponse,
  spendingApproval,
} from '../identity/spending-approval.js';
import { FILE_KEPT_HOURS, RESULT_KEPT_HOURS, RESULTS_KEPT_MIB } from '../limits.js';
import { listAgentRunsQuery, listAgentRunsResponse } from '../listings/creator-runs.js';
import { agentsStats, agentsStatsQuery, agentStats, agentStatsQuery } from '../listings/creator-stats.js';
import { listAgentsQuery, listAgentsResponse } from '../listings/own-agents.js';
import {
  creator,
  listing,
  getListingQuery,
  searchListingsQuery,
  searchListingsResponse,
  updateCreatorBody,
} from '../listings/listing.js';
import { givenListingId } from '../primitives.js';
import { receiptQuery, signedReceipt } from '../runs/receipt.js';
import { spending, spendingQuery } from '../runs/spending.js';
import { createReviewBody, listReviewsQuery, listReviewsResponse, review } from '../listings/review.js';
import {
  deletedAgent,
  job,
  modelKeyBody,
  modelKeySet,
  registerAgentBody,
  registerAgentResponse,
  rollbackAgentBody,
  updateAgentBody,
  webhookSecretRotation,
} from '../listings/registration.js';
import type { RequiredScope } from './scopes.js';
import { listToolsQuery, listToolsResponse } from '../runs/tools.js';
import {
  submittedTransaction,
  submitTransactionBody,
  TRANSACTION_SCOPES,
  transactionProposal,
  transactionRequest,
} from '../rentals/transactions.js';

/** One operation of the HTTP API: its input, its output and its callers. */
export type Operation = OperationForm & OperationAccess;

/** Who may call. Every operation that takes a bearer has a scope. */
export type OperationAccess =
  /** The server ignores an `Authorization` header. */
  { readonly auth: 'none' } | { readonly auth: 'bearer'; readonly scope: RequiredScope };

/** The input and output of an operation. */
export interface OperationForm {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Path with `:name` for parameters. */
  readonly path: string;
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The body is bytes of any type, which the server reads as a stream. */
  readonly upload?: true;
  /** Status of success. */
  readonly status: number;
  readonly response: z.ZodType;
  /** Answer with 202: the work continues. */
  readonly accepted?: z.ZodType;
  /** Request headers that only this operation reads, with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Success is a stream of server-sent events, not JSON. */
  readonly stream?: true;
  /** The `data` of a stream's events, by the event's name. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
}

/** Public reads: every key has one of these. */
const ANY = ['run', 'rent', 'publish'] as const;

/** Keeps each operation's own types while checking its shape. */
const define = <const O extends Operation>(operation: O): O => operation;

const IDEMPOTENCY_KEY = {
  'Idempotency-Key':
    'Two requests of one caller under one key are one run, charged once. A caller is an API key, or the logins of a wallet. ' +
    '1 to 200 visible ASCII characters. With `;window=N` after it, the key is free again N seconds (at most 3600) after ' +
    'the run ended.',
};

/** Every operation, by id. Routes, validation and the sdk are made from this table. */
export const operations = {
  getChallenge: define({
    id: 'getChallenge',
    method: 'GET',
    path: '/v1/auth/challenge',
    summary: 'Get a challenge for a wallet to sign',
    auth: 'none',
    query: challengeQuery,
    status: 200,
    response: challenge,
  }),
  createToken: define({
    id: 'createToken',
    method: 'POST',
    path: '/v1/auth/token',
    summary: 'Exchange a signed challenge for a token',
    auth: 'none',
    body: tokenRequest,
    status: 200,
    response: token,
  }),
  getNetwork: define({
    id: 'getNetwork',
    method: 'GET',
    path: '/v1/network',
    summary: 'The chain and the program that the marketplace uses',
    auth: 'none',
    status: 200,
    response: network,
  }),
  createApiKey: define({
    id: 'createApiKey',
    method: 'POST',
    path: '/v1/api-keys',
    summary: 'Create an API key, confirmed by a wallet signature',
    auth: 'bearer',
    scope: 'login',
    body: createApiKeyBody,
    status: 201,
    response: createdApiKey,
  }),
  listApiKeys: define({
    id: 'listApiKeys',
    method: 'GET',
    path: '/v1/api-keys',
    summary: "List the wallet's valid API keys and connected apps",
    auth: 'bearer',
    scope: 'login',
    status: 200,
    response: listApiKeysResponse,
  }),
  revokeApiKey: define({
    id: 'revokeApiKey',
    method: 'DELETE',
    path: '/v1/api-keys/:key_id',
    summary: 'Revoke an API key, or disconnect an app',
    auth: 'bearer',
    scope: 'login',
    params: z.object({ key_id: z.string() }),
    status: 200,
    response: apiKey,
  }),
  listApprovals: define({
    id: 'listApprovals',
    method: 'GET',
    path: '/v1/approvals',
    summary: "Open approvals: spends that the wallet's API keys ask for",
    auth: 'bearer',
    scope: 'login',
    status: 200,
    response: listApprovalsResponse,
  }),
  getApproval: define({
    id: 'getApproval',
    method: 'GET',
    path: '/v1/approvals/:approval_id',
    summary: 'One approval, answered or not; an API key reads its own',
    auth: 'bearer',
    scope: ['run', 'rent'],
    headers: { Prefer: '`wait=N` waits up to N seconds (at most 60) for the answer.' },
    params: z.object({ approval_id: z.string() }),
    status: 200,
    response: spendingApproval,
  }),
  answerApproval: define({
    id: 'answerApproval',
    method: 'POST',
    path: '/v1/approvals/:approval_id',
    summary: 'Approve a spend, confirmed by a wallet signature, or refuse it',
    auth: 'bearer',
    scope: 'login',
    params: z.object({ approval_id: z.string() }),
    body: answerApprovalBody,
    status: 200,
    response: spendingApproval,
  }),
  connectApp: define({
    id: 'connectApp',
    method: 'POST',
    path: '/v1/apps',
    summary: 'Connect an app that requested it by OAuth, confirmed by a wallet signature',
    auth: 'none',
    body: connectAppBody,
    status: 201,
    response: connectedApp,
  }),
  searchListings: define({
    id: 'searchListings',
    method: 'GET',
    path: '/v1/listings',
    summary: 'Search listings',
    auth: 'bearer',
    scope: ANY,
    query: searchListingsQuery,
    status: 200,
    response: searchListingsResponse,
  }),
  getListing: define({
    id: 'getListing',
    method: 'GET',
    path: '/v1/listings/:id',
    summary: 'Listing detail',
    auth: 'bearer',
    scope: ANY,
    params: z.object({ id: givenListingId }),
    query: getListingQuery,
    status: 200,
    response: listing,
  }),
  createReview: define({
    id: 'createReview',
    method: 'POST',
    path: '/v1/listings/:id/reviews',
    summary: 'Review a listing after a finished run; a second review replaces the first',
    auth: 'bearer',
    scope: ['run'],
    params: z.object({ id: givenListingId }),
    body: createReviewBody,
    status: 200,
    response: review,
  }),
  listReviews: define({
    id: 'listReviews',
    method: 'GET',
    path: '/v1/listings/:id/reviews',
    summary: 'Reviews of a listing, the newest first',
    auth: 'bearer',
    scope: ANY,
    params: z.object({ id: givenListingId }),
    query: listReviewsQuery,
    status: 200,
    response: listReviewsResponse,
  }),
  updateCreator: define({
    id: 'updateCreator',
    method: 'PATCH',
    path: '/v1/creators/me',
    summary: "Set the caller's name as a creator",
    auth: 'bearer',
    scope: ['publish'],
    body: updateCreatorBody,
    status: 200,
    response: creator,
  }),
  listCredentials: define({
    id: 'listCredentials',
    method: 'GET',
    path: '/v1/credentials',
    summary: "List the caller's credentials",
    auth: 'bearer',
    scope: ['run', 'rent'],
    query: listCredentialsQuery,
    status: 200,
    response: listCredentialsResponse,
  }),
  verifyCredential: define({
    id: 'verifyCredential',
    method: 'GET',
    path: '/v1/credentials/:listing_id',
    summary: 'Verify a credential in the index and on-chain',
    auth: 'bearer',
    scope: ['run', 'rent'],
    params: z.object({ listing_id: givenListingId }),
    status: 200,
    response: credentialVerification,
  }),
  pinVersion: define({
    id: 'pinVersion',
    method: 'PUT',
    path: '/v1/credentials/:listing_id/version',
    summary: 'Pin the version for runs of a rental, for the wallet or for the calling API key',
    auth: 'bearer',
    scope: ['run'],
    params: z.object({ listing_id: givenListingId }),
    body: pinVersionBody,
    status: 200,
    response: pinnedVersion,
  }),
  registerAgent: define({
    id: 'registerAgent',
    method: 'POST',
    path: '/v1/agents',
    summary: 'Register an agent; a job validates it',
    auth: 'bearer',
    scope: ['publish'],
    body: registerAgentBody,
    status: 202,
    response: registerAgentResponse,
  }),
  listAgents: define({
    id: 'listAgents',
    method: 'GET',
    path: '/v1/agents',
    summary: "The wallet's own agents, drafts included, and which of them cannot be reached",
    auth: 'bearer',
    scope: ['publish'],
    query: listAgentsQuery,
    status: 200,
    response: listAgentsResponse,
  }),
  updateAgent: define({
    id: 'updateAgent',
    method: 'PATCH',
    path: '/v1/agents/:listing_id',
    summary: 'Update an agent; the new version runs once a job has validated it',
    auth: 'bearer',
    scope: ['publish'],
    headers: CONFIRMATION_HEADER_NOTES,
    params: z.object({ listing_id: givenListingId }),
    body: updateAgentBody,
    status: 202,
    response: registerAgentResponse,
  }),
  rollbackAgent: define({
    id: 'rollbackAgent',
    method: 'POST',
    path: '/v1/agents/:listing_id/rollback',
    summary: 'Go back to an earlier version of an agent, as a new version; a job validates it',
    auth: 'bearer',
    scope: ['publish'],
    headers: CONFIRMATION_HEADER_NOTES,
    params: z.object({ listing_id: givenListingId }),
    body: rollbackAgentBody,
    status: 202,
    response: registerAgentResponse,
  }),
  deleteAgent: define({
    id: 'deleteAgent',
    method: 'DELETE',
    path: '/v1/agents/:listing_id',
    summary: 'Delete an agent that was never published',
    auth: 'bearer',
    scope: ['publish'],
    params: z.object({ listing_id: givenListingId }),
    status: 200,
    response: deletedAgent,
  }),
  listAgentRuns: define({
    id: 'listAgentRuns',
    method: 'GET',
    path: '/v1/agents/:listing_id/runs',
    summary: 'Runs of an own listing, newest first: how they ended and why, without inputs and outputs',
    auth: 'bearer',
    scope: ['publish'],
    params: z.object({ listing_id: givenListingId }),
    query: listAgentRunsQuery,
    status: 200,
    response: listAgentRunsResponse,
  }),
  getAgentStats: define({
    id: 'getAgentStats',
    method: 'GET',
    path: '/v1/agents/:listing_id/stats',
    summary: 'Statistics of the runs of an own listing: counts, durations, failures and refusals',
    auth: 'bearer',
    scope: ['publish'],
    params: z.object({ listing_id: givenListingId }),
    query: agentStatsQuery,
    status: 200,
    response: agentStats,
  }),
  getAgentsStats: define({
    id: 'getAgentsStats',
    method: 'GET',
    path: '/v1/agents/stats',
    summary: 'Runs and earnings of all own listings: by day, and of each listing',
    auth: 'bearer',
    scope: ['publish'],
    query: agentsStatsQuery,
    status: 200,
    response: agentsStats,
  }),
  setModelKey: define({
    id: 'setModelKey',
    method: 'PUT',
    path: '/v1/listings/:id/model-key',
    summary: "Replace the model vendor's key of an own listing",
    auth: 'bearer',
    scope: 'login',
    headers: CONFIRMATION_HEADER_NOTES,
    params: z.object({ id: givenListingId }),
    body: modelKeyBody,
    status: 200,
    response: modelKeySet,
  }),
  rotateWebhookSecret: define({
    id: 'rotateWebhookSecret',
    method: 'POST',
    path: '/v1/listings/:id/webhook-secret',
    summary: 'Replace the secret that signs the calls to an own connected agent',
    auth: 'bearer',
    scope: 'login',
    headers: CONFIRMATION_HEADER_NOTES,
    params: z.object({ id: givenListingId }),
    status: 200,
    response: webhookSecretRotation,
  }),
  getEarnings: define({
    id: 'getEarnings',
    method: 'GET',
    path: '/v1/earnings',
    summary: "Earnings of the caller's listings",
    auth: 'bearer',
    scope: ['publish'],
    query: earningsQuery,
    status: 200,
    response: earningsResponse,
  }),
  getJob: define({
    id: 'getJob',
    method: 'GET',
    path: '/v1/jobs/:job_id',
    summary: 'State of a registration job',
    auth: 'bearer',
    scope: ['publish'],
    params: z.object({ job_id: z.string() }),
    status: 200,
    response: job,
  }),
  createTransaction: define({
    id: 'createTransaction',
    method: 'POST',
    path: '/v1/transactions',
    summary: 'Build a transaction for the caller to sign',
    auth: 'bearer',
    scope: { byAction: TRANSACTION_SCOPES },
    body: transactionRequest,
    status: 200,
    response: transactionProposal,
  }),
  submitTransaction: define({
    id: 'submitTransaction',
    method: 'POST',
    path: '/v1/transactions/submit',
    summary: 'Send a signed transaction and wait until it is confirmed and indexed',
    auth: 'bearer',
    // The instructions of the transaction decide between the two.
    scope: ['rent', 'publish'],
    body: submitTransactionBody,
    status: 200,
    response: submittedTransaction,
  }),
  execute: define({
    id: 'execute',
    method: 'POST',
    path: '/v1/execute',
    summary: 'Run a task',
    auth: 'bearer',
    scope: ['run'],
    headers: {
      ...IDEMPOTENCY_KEY,
      Prefer: '`respond-async, wait=N` answers 202 when the run is not done within N seconds (at most 60).',
    },
    body: executeBody,
    status: 200,
    response: run,
    accepted: runningRun,
  }),
  executeStream: define({
    id: 'executeStream',
    method: 'POST',
    path: '/v1/execute/stream',
    summary: 'Run a task and stream its output',
    auth: 'bearer',
    scope: ['run'],
    headers: IDEMPOTENCY_KEY,
    body: executeBody,
    status: 200,
    response: z.string(),
    stream: true,
    events: { output: outputEvent, done: doneEvent },
  }),
  getRun: define({
    id: 'getRun',
    method: 'GET',
    path: '/v1/runs/:run_id',
    summary: `A run of the caller; its result is kept for ${RESULT_KEPT_HOURS} hours, within ${RESULTS_KEPT_MIB} MiB for each wallet and listing`,
    auth: 'bearer',
    scope: ['run'],
    headers: { Prefer: '`wait=N` waits up to N seconds (at most 60) for the end of the run.' },
    params: z.object({ run_id: z.string() }),
    status: 200,
    response: runState,
  }),
  listTools: define({
    id: 'listTools',
    method: 'GET',
    path: '/v1/tools',
    summary: "The caller's rentals as function definitions",
    auth: 'bearer',
    scope: ['run'],
    query: listToolsQuery,
    status: 200,
    response: listToolsResponse,
  }),
  createFile: define({
    id: 'createFile',
    method: 'POST',
    path: '/v1/files',
    summary: `Send a file to be the input of runs; it is kept for ${FILE_KEPT_HOURS} hours`,
    auth: 'bearer',
    scope: ['run'],
    upload: true,
    status: 201,
    response: storedFile,
  }),
  getFile: define({
    id: 'getFile',
    method: 'GET',
    path: '/v1/files/:file_id',
    summary: 'A file of the caller, without its content',
    auth: 'bearer',
    scope: ['run'],
    params: z.object({ file_id: z.string() }),
    status: 200,
    response: storedFile,
  }),
  deleteFile: define({
    id: 'deleteFile',
    method: 'DELETE',
    path: '/v1/files/:file_id',
    summary: 'Delete a file',
    auth: 'bearer',
    scope: ['run'],
    params: z.object({ file_id: z.string() }),
    status: 200,
    response: deletedFile,
  }),
  listRuns: define({
    id: 'listRuns',
    method: 'GET',
    path: '/v1/runs',
    summary: "The caller's runs, newest first",
    auth: 'bearer',
    scope: ['run'],
    query: listRunsQuery,
    status: 200,
    response: listRunsResponse,
  }),
  getSpending: define({
    id: 'getSpending',
    method: 'GET',
    path: '/v1/spending',
    summary:
      'The number of own runs and their cost, by day and by agent; an API key counts the runs that it began',
    auth: 'bearer',
    scope: ['run'],
    query: spendingQuery,
    status: 200,
    response: spending,
  }),
  getReceipt: define({
    id: 'getReceipt',
    method: 'GET',
    path: '/v1/runs/:run_id/receipt',
    summary: 'The signed receipt of a run',
    auth: 'bearer',
    scope: ['run'],
    params: z.object({ run_id: z.string() }),
    query: receiptQuery,
    status: 200,
    response: signedReceipt,
  }),
  cancelRun: define({
    id: 'cancelRun',
    method: 'POST',
    path: '/v1/runs/:run_id/cancel',
    summary: 'Stop a run',
    auth: 'bearer',
    scope: ['run'],
    params: z.object({ run_id: z.string() }),
    status: 200,
    response: cancellation,
  }),
  cancelRunByKey: define({
    id: 'cancelRunByKey',
    method: 'POST',
    path: '/v1/runs/cancel',
    summary: 'Stop the run of an idempotency key, or refuse a later run under the key',
    auth: 'bearer',
    scope: ['run'],
    body: cancelByKeyBody,
    status: 200,
    response: cancellation,
  }),
} as const;

export type OperationId = keyof typeof operations;
