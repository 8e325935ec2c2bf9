import { API_KEY_SCOPES, type Operation, type RequiredScope } from '@agent-rental/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { ApiError, internalError } from '../errors/api-error.js';
import { checkBySchema } from './check-by-schema.js';
import type { Principal } from '../access/principal.js';
import { requireListing, requireScope } from '../access/scopes.js';

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;
type Field<O, K extends string> = O extends { [key in K]: infer S } ? S : undefined;

/** The parameters of a handler, parsed by the operation's schemas. */
export interface OperationCall<O extends Operation> {
  /** The caller; for operations without authentication an empty wallet. */
  principal: Principal;
  params: Parsed<Field<O, 'params'>>;
  query: Parsed<Field<O, 'query'>>;
  body: Parsed<Field<O, 'body'>>;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Largest bodies: of operations with a run's input, of operations with a manifest, and of all others. */
const MOST_BODY_BYTES = { input: 1_500_000, manifest: 256 * 1024, other: 64 * 1024, stranger: 16 * 1024 };
const TAKES: Readonly<Record<string, keyof typeof MOST_BODY_BYTES>> = {
  execute: 'input',
  executeStream: 'input',
  registerAgent: 'manifest',
  updateAgent: 'manifest',
  // The terms of a publication may hold an icon.
  createTransaction: 'manifest',
  submitTransaction: 'manifest',
};

function mostBodyBytes({ id, auth }: Operation): number {
  if (auth === 'none') return MOST_BODY_BYTES.stranger;
  return MOST_BODY_BYTES[TAKES[id] ?? 'other'];
}

const ANONYMOUS: Principal = { wallet: '', rateKey: '' };

/**
 * Adds the route of an operation: parses its request by the schemas, answers with its status. A handler that
 * streams takes over the reply and returns undefined; one that answers "accepted" sets that status.
 */
export function addOperation<O extends Operation>(
  app: FastifyInstance,
  operation: O,
  handler: (
    call: OperationCall<O>,
  ) => Promise<
    O extends { stream: true }
      ? void
      :
          | z.input<O['response']>
          | (O extends { accepted: infer A extends z.ZodType } ? z.input<A> : never)
          | (O extends { events: object } ? undefined : never)
  >,
): void {
  app.route({
    method: operation.method,
    url: operation.path,
    bodyLimit: mostBodyBytes(operation),
    config: {
      auth: operation.auth,
      operationId: operation.id,
      takesPayments: operation.payment !== undefined,
    },
    handler: async (request, reply) => {
      if (operation.auth === 'bearer' && !request.principal) throw internalError('a caller who is not known');
      const principal = request.principal ?? ANONYMOUS;
      const required: RequiredScope | undefined = operation.auth === 'bearer' ? operation.scope : undefined;
      const isByAction = typeof required === 'object' && 'byAction' in required;
      // Before the body is looked at, where it does not decide.
      if (operation.auth === 'bearer' && !isByAction) requireScope(principal, operation.scope);
      const call = {
        principal,
        params: parse(operation.params, request.params, 'path'),
        query: parse(operation.query, request.query, 'query'),
        body: parse(operation.body, request.body, 'body'),
        request,
        reply,
      } as OperationCall<O>;
      if (isByAction) requireScope(principal, required, (call.body as unknown as { action: string }).action);
      if (!isPublic(operation)) for (const id of listingsOf(call)) requireListing(principal, id);
      const answer = await handler(call);
      if (reply.sent) return reply;
      if (reply.statusCode !== 202) reply.code(operation.status);
      return reply.send(answer);
    },
  });
}

/** Whether an operation answers every caller alike: each key has a scope for it. */
function isPublic(operation: Operation): boolean {
  if (operation.auth === 'none') return true;
  const { scope } = operation;
  return (
    typeof scope === 'object' &&
    !('byAction' in scope) &&
    API_KEY_SCOPES.every((each) => scope.includes(each))
  );
}

/** The listings that a call names, in its path or its body. A path's `id` is a listing's. */
function listingsOf({ params, body }: { params?: unknown; body?: unknown }): string[] {
  const { listing_id, id } = Object(params) as Named;
  const { listing_id: given, agent_id } = Object(body) as Named;
  return [listing_id, id, given, agent_id].filter((named) => typeof named === 'string');
}
type Named = Partial<Record<'listing_id' | 'id' | 'agent_id', unknown>>;

function parse(schema: z.ZodType | undefined, value: unknown, where: string): unknown {
  if (!schema) return undefined;
  if (where === 'body' && (value === undefined || value === null)) {
    throw new ApiError('invalid_request', 'A JSON body is required.', {
      next: 'Send it with Content-Type: application/json.',
    });
  }
  const checked = checkBySchema(schema, value);
  if ('problem' in checked) throw new ApiError('invalid_request', `The ${where} ${checked.problem}.`);
  return checked.value;
}
