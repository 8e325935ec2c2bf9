import type { z } from 'zod';
import type { RequiredScope } from './scopes.js';

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
  /** A payment in the request takes the place of the bearer: for this call, or to read the run of an earlier one. */
  readonly payment?: 'this call' | 'an earlier call';
  /** Success is a stream of server-sent events, not JSON. */
  readonly stream?: true;
  /** The `data` of a stream's events, by the event's name. Without `stream`, a caller gets JSON or the stream by `Accept`. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
}

/** Public reads: every key has one of these. */
export const ANY = ['run', 'rent', 'publish'] as const;

/** Keeps each operation's own types while checking its shape. */
export const define = <const O extends Operation>(operation: O): O => operation;
