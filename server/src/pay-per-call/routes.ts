import { operations, type ErrorEnvelope } from '@agent-rental/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../access/principal.js';
import { ApiError } from '../errors/api-error.js';
import { checkBySchema } from '../http/check-by-schema.js';
import { clientAddress } from '../rate-limits/client-address.js';
import { PaymentRefusal } from './refusal.js';
import type { PaidCaller, PayPerCall } from './service.js';

/** A caller names its wallet in it, so that it pays no rent for a rental that it has. */
const WALLET_HEADER = 'payment-wallet';
declare module 'fastify' {
  interface FastifyRequest {
    /** The wallet whose payment began the run of this request; null for any other caller. */
    payerOfRun: string | null;
  }
}

const RUNS: readonly (string | undefined)[] = [operations.execute.id, operations.executeStream.id];

/**
 * Lets calls of Per-Task listings be paid for in the request. A paid request goes on as a call of its payer, by the
 * unchanged routes.
 *
 * @param authenticate refuses a caller without any credentials as on other routes
 */
export function payPerCallRoutes(
  http: FastifyInstance,
  {
    payPerCall,
    authenticate,
  }: { payPerCall: PayPerCall; authenticate(request: FastifyRequest): Promise<unknown> },
): void {
  http.decorateRequest('payerOfRun', null);
  http.addHook('preHandler', async (request, reply) => {
    const { takesPayments, operationId } = request.routeOptions.config;
    if (takesPayments !== true) return undefined;
    const isRun = RUNS.includes(operationId);
    try {
      if (payPerCall.isPaid(request.headers)) {
        admit(await (isRun ? take(request) : payPerCall.recall(request.headers)), request, reply);
        return undefined;
      }
    } catch (error) {
      if (!(error instanceof PaymentRefusal)) throw error;
      if (!isRun) throw new ApiError('unauthorized', error.message, { next: 'Send the payment of the run.' });
      return askForPayment(request, reply, error);
    }
    if (request.principal) return undefined;
    if (isRun) return askForPayment(request, reply, NOT_PAID);
    await authenticate(request);
    return undefined;
  });

  http.addHook('preSerialization', async (request, reply, payload) => {
    if (request.payerOfRun !== null)
      return reply.statusCode >= 400 ? withBalance(payload, request.payerOfRun) : payload;
    const { principal } = request;
    return principal && wouldPay(request, payload)
      ? ((await offerTo(principal, request, reply)) ?? payload)
      : payload;
  });

  async function take(request: FastifyRequest): Promise<PaidCaller> {
    const checked = checkBySchema(operations.execute.body, request.body);
    if ('problem' in checked) throw new ApiError('invalid_request', `The body ${checked.problem}.`);
    const body = checked.value as Parameters<PayPerCall['take']>[1];
    // A request of MCP comes from this process; its caller's address is known.
    const address = request.principal?.address ?? clientAddress(request.ip);
    return payPerCall.take(request.headers, body, address);
  }

  async function offerTo({ wallet }: Principal, request: FastifyRequest, reply: FastifyReply) {
    const offer = await payPerCall.offerUnrented(agentOf(request), wallet);
    return offer && asking(request, reply, { headers: offer, refusal: NOT_PAID });
  }

  async function askForPayment(request: FastifyRequest, reply: FastifyReply, refusal: PaymentRefusal) {
    const named = request.headers[WALLET_HEADER];
    const wallet = typeof named === 'string' ? named : undefined;
    const headers = await payPerCall.offer(agentOf(request), wallet, refusal);
    // As any call without credentials.
    if (!headers && refusal === NOT_PAID) return authenticate(request);
    return reply.send(asking(request, reply, { headers: headers ?? {}, refusal }));
  }
}

const NOT_PAID = new PaymentRefusal(
  'payment-required',
  'This call is not paid for, and the caller has no rental of the agent.',
);

const agentOf = ({ body }: FastifyRequest): unknown => (Object(body) as { agent_id?: unknown }).agent_id;

function admit(
  { principal, idempotencyKey, receipt }: PaidCaller,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const address = request.principal?.address ?? clientAddress(request.ip);
  request.principal = { ...principal, address };
  request.headers['idempotency-key'] = idempotencyKey;
  reply.headers(receipt);
  request.payerOfRun = principal.wallet;
}

/** Tells in an error that the payment was taken, and where it is. */
function withBalance(payload: unknown, wallet: string): unknown {
  const { error } = Object(payload) as Partial<ErrorEnvelope>;
  if (error === undefined) return payload;
  const note = `The payment is a prepaid balance of ${wallet}: send the same request again, or log in with that wallet and call the agent.`;
  return { ...Object(payload), error: { ...error, message: `${error.message} ${note}` } };
}

/**
 * Whether a caller with a key or a login was refused for want of a rental or a balance, and says that it would pay. It is
 * asked after the refusal: a repeated call gets its run.
 */
function wouldPay({ headers, routeOptions }: FastifyRequest, payload: unknown): boolean {
  if (headers['accept-payment'] === undefined || !RUNS.includes(routeOptions.config.operationId))
    return false;
  const { error } = Object(payload) as Partial<ErrorEnvelope>;
  const isUnpaid = error?.code === 'credential_not_found' || error?.code === 'insufficient_balance';
  return isUnpaid && error.policy_rule === undefined && error.required_scopes === undefined;
}

/** Makes an answer a 402. Gives its body: MPP's problem details and the envelope of all errors. */
function asking(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, refusal }: { headers: Record<string, string>; refusal: PaymentRefusal },
): object {
  const error = new ApiError('insufficient_balance', refusal.message, {
    status: 402,
    next: 'Nothing was taken. Pay by the challenge of this answer and send the request again with the payment, or rent the agent: POST /v1/transactions.',
  });
  reply
    .code(402)
    .headers({ ...headers, 'Cache-Control': 'no-store', 'Content-Type': 'application/problem+json' });
  return {
    type: `https://paymentauth.org/problems/${refusal.problem}`,
    title: 'Payment Required',
    status: 402,
    detail: error.message,
    error: error.body(request.id),
  };
}
