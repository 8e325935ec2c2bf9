import * as z from 'zod';

/** Answer of `GET /health`: the server is alive, and how it isolates the runs of agents. */
export const health = z
  .object({
    status: z.literal('ok'),
    network: z.enum(['localnet', 'devnet', 'mainnet']),
    sandbox: z.object({
      driver: z.string(),
      /** What stands between an agent's code and the machine. */
      isolation: z.enum(['runtime', 'kernel', 'microvm']),
      /** Whether a run cannot take more memory than its share. */
      memoryBounded: z.boolean(),
      /** Whether a run cannot start more threads than its share. */
      threadsBounded: z.boolean(),
      /** What bounds the memory of a run: a machine of its own, a cgroup, limits of its process, or nothing. */
      memoryBound: z.enum(['machine', 'cgroup', 'rlimit', 'none']),
      /** What bounds its threads. */
      threadsBound: z.enum(['machine', 'cgroup', 'rlimit', 'none']),
      /** Whether a sandbox ends with the server, however that ends. */
      endsWithHost: z.boolean(),
      /** Whether agents can be granted `run_python` here. */
      python: z.boolean(),
    }),
    /** Who approves the first version of a listing. */
    review: z.enum(['automatic', 'operator']),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof health>;

/** Answer of `GET /ready`, with 200 or 503: whether requests should be sent here, and if not, why. */
export const readiness = z
  .object({ status: z.enum(['ready', 'not_ready']), reasons: z.array(z.string()) })
  .meta({ id: 'Readiness' });

/** Answer of `GET /.well-known/jwks.json` (RFC 7517): the keys with which anybody checks a receipt. */
export const jwks = z
  .object({
    keys: z.array(
      z.object({
        kty: z.string(),
        crv: z.string(),
        x: z.string(),
        kid: z.string(),
        use: z.literal('sig'),
        alg: z.literal('EdDSA'),
      }),
    ),
  })
  .meta({ id: 'JwkSet' });

/** One thing that can be asked of the service itself, outside `/v1`. It takes no parameters, and is never limited. */
export interface ServiceEndpoint {
  readonly path: string;
  readonly summary: string;
  /** `operator`: where a METRICS_TOKEN is set, that is the bearer. */
  readonly auth: 'none' | 'operator';
  readonly mediaType: 'application/json' | 'text/plain';
  /** What it answers that is no error, by status. */
  readonly answers: Readonly<Record<number, { readonly schema: z.ZodType; readonly example: unknown }>>;
  /** Statuses of errors that only this one has. */
  readonly errors?: readonly number[];
}

/** Every endpoint outside `/v1`, by id; MCP's is a protocol of its own. */
export const serviceEndpoints = {
  getHealth: {
    path: '/health',
    summary: 'Whether the server is alive, and how runs are isolated',
    auth: 'none',
    mediaType: 'application/json',
    answers: {
      200: {
        schema: health,
        example: {
          status: 'ok',
          network: 'devnet',
          sandbox: {
            driver: 'bubblewrap',
            isolation: 'kernel',
            memoryBounded: true,
            threadsBounded: true,
            memoryBound: 'cgroup',
            threadsBound: 'cgroup',
            endsWithHost: true,
            python: true,
          },
          review: 'operator',
        },
      },
    },
  },
  getReadiness: {
    path: '/ready',
    summary: 'Whether the server should be sent requests, and if not, why',
    auth: 'none',
    mediaType: 'application/json',
    answers: {
      200: { schema: readiness, example: { status: 'ready', reasons: [] } },
      503: { schema: readiness, example: { status: 'not_ready', reasons: ['draining'] } },
    },
  },
  getMetrics: {
    path: '/metrics',
    summary: 'Metrics in the text format of Prometheus',
    auth: 'operator',
    mediaType: 'text/plain',
    answers: {
      200: {
        schema: z.string(),
        example: '# TYPE agent_rental_runs_running gauge\nagent_rental_runs_running 2\n',
      },
    },
    errors: [401, 404],
  },
  getOpenApi: {
    path: '/openapi.json',
    summary: 'This document',
    auth: 'none',
    mediaType: 'application/json',
    answers: {
      200: { schema: z.object({ openapi: z.string() }).loose(), example: { openapi: '3.1.0' } },
    },
  },
  getReceiptKeys: {
    path: '/.well-known/jwks.json',
    summary: 'The keys with which anybody checks a receipt',
    auth: 'none',
    mediaType: 'application/json',
    answers: {
      200: {
        schema: jwks,
        example: {
          keys: [
            {
              kty: 'OKP',
              crv: 'Ed25519',
              x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
              kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
              use: 'sig',
              alg: 'EdDSA',
            },
          ],
        },
      },
    },
  },
} as const satisfies Record<string, ServiceEndpoint>;

/** The path of MCP, whose requests and answers are described by that protocol. */
export const MCP_PATH = '/mcp';

/** The page that `rent_url` of the tools leads to. */
export const RENT_PAGE_PATH = '/dashboard/rent/:listing_id';
