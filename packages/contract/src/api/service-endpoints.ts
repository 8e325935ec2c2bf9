import * as z from 'zod';
import { authorizationServer, protectedResource } from '../identity/oauth-metadata.js';
import { lamports, walletAddress } from '../primitives.js';
import { agentCard, aiCatalog, serverCard, skillsIndex } from './discovery.js';

/** Answer of `GET /health`: the server is alive. It also describes the isolation of runs. */
export const health = z
  .object({
    status: z.literal('ok'),
    network: z.enum(['localnet', 'devnet', 'mainnet']),
    sandbox: z.object({
      driver: z.string(),
      /** The boundary between an agent's code and the machine. */
      isolation: z.enum(['runtime', 'kernel', 'microvm']),
      /** Whether a run cannot take more memory than its share. */
      memoryBounded: z.boolean(),
      /** Whether a run cannot start more threads than its share. */
      threadsBounded: z.boolean(),
      /** What bounds the memory of a run: a separate machine, a cgroup, limits of its process, or nothing. */
      memoryBound: z.enum(['machine', 'cgroup', 'rlimit', 'none']),
      /** What bounds its threads. */
      threadsBound: z.enum(['machine', 'cgroup', 'rlimit', 'none']),
      /** Whether a sandbox always ends with the server, also after a kill. */
      endsWithHost: z.boolean(),
      /** Whether agents can be granted `run_python` here. */
      python: z.boolean(),
    }),
    /** Who approves the first version of a listing. */
    review: z.enum(['automatic', 'operator']),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof health>;

/** Answer of `GET /ready`, with 200 or 503: whether the server takes requests, and the reasons if not. */
export const readiness = z
  .object({
    status: z.enum(['ready', 'not_ready']),
    reasons: z.array(z.string()),
    /** The last known on-chain balances of the service's keys, and whether they pay for new Per-Task runs. */
    funds: z
      .object({
        per_task_runs: z.enum(['accepted', 'refused']),
        authority_lamports: lamports,
        authority_reserve_lamports: lamports,
        treasury_lamports: lamports,
        treasury_minimum_lamports: lamports,
      })
      .optional(),
    /** With several RPC endpoints, how many of them are in use. */
    rpc_endpoints: z.object({ in_use: z.int().min(0), of: z.int().min(2) }).optional(),
  })
  .meta({ id: 'Readiness' });

/** Answer of `GET /.well-known/jwks.json` (RFC 7517): the public keys that verify receipts. */
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
        /** Time of its first signature, in Unix seconds; absent for the first key. */
        nbf: z.int().optional(),
        /** Time of its last signature, in Unix seconds. Its signatures stay valid. Absent while it signs. */
        exp: z.int().optional(),
        /** The key has leaked: its signatures prove nothing any more. */
        revoked: z.object({ revoked_at: z.int() }).optional(),
      }),
    ),
  })
  .meta({ id: 'JwkSet' });
export type Jwks = z.infer<typeof jwks>;

/** An endpoint of the service itself, outside `/v1`. It takes no parameters. */
export interface ServiceEndpoint {
  readonly path: string;
  readonly summary: string;
  /** `operator`: the bearer is the METRICS_TOKEN, where one is set. */
  readonly auth: 'none' | 'operator';
  readonly mediaType:
    | 'application/json'
    | 'application/mcp-server-card+json'
    | 'application/ai-catalog+json'
    | 'text/markdown'
    | 'text/plain';
  /** Its answers that are no errors, by status. */
  readonly answers: Readonly<Record<number, { readonly schema: z.ZodType; readonly example: unknown }>>;
  /** Its answers have an ETag, and it answers 304 to a matching `If-None-Match`. */
  readonly cached?: true;
  /** Statuses of errors that only this one has. */
  readonly errors?: readonly number[];
}

const CARD_EXAMPLE = {
  $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
  name: 'io.github.agent-rental/mcp-server',
  title: 'Agent rental marketplace',
  description: 'Finds, rents and runs AI agents of a marketplace, as tools.',
  version: '0.1.0',
  websiteUrl: 'https://market.example/AGENTS.md',
  icons: [{ src: 'https://market.example/icon.png', mimeType: 'image/png', sizes: ['128x128'] }],
  remotes: [
    {
      type: 'streamable-http',
      url: 'https://market.example/mcp',
      headers: [{ name: 'Authorization', isRequired: false, isSecret: true }],
    },
  ],
} as const;
const AGENT_CARD_EXAMPLE = {
  name: 'Agent rental marketplace',
  description: 'Finds, rents and runs AI agents of a marketplace. Each rented agent also has a card.',
  version: '0.1.0',
  supportedInterfaces: [
    { url: 'https://market.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  ],
  skills: [{ id: 'find', name: 'Find an agent', description: 'Text is a search.', tags: ['search'] }],
} as const;
const CARD_TYPE = 'application/mcp-server-card+json';

const AUTHORIZATION_SERVER_EXAMPLE = {
  issuer: 'https://market.example',
  authorization_endpoint: 'https://market.example/dashboard/consent',
  token_endpoint: 'https://market.example/oauth/token',
  registration_endpoint: 'https://market.example/oauth/register',
  revocation_endpoint: 'https://market.example/oauth/revoke',
  scopes_supported: ['run', 'rent'],
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
} as const;
const PROTECTED_RESOURCE_EXAMPLE = {
  resource: 'https://market.example/mcp',
  authorization_servers: ['https://market.example'],
  scopes_supported: ['run', 'rent'],
  bearer_methods_supported: ['header'],
} as const;

/** Every endpoint outside `/v1`, by id, except the one of MCP. */
export const serviceEndpoints = {
  getHealth: {
    path: '/health',
    summary: 'Whether the server is alive, and the isolation of runs',
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
    summary: 'Whether the server takes requests, and the reasons if not',
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
    summary: 'The public keys that verify receipts',
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
  getAuthorizationServer: {
    path: '/.well-known/oauth-authorization-server',
    summary: 'How clients of MCP log in by OAuth (RFC 8414)',
    auth: 'none',
    mediaType: 'application/json',
    answers: { 200: { schema: authorizationServer, example: AUTHORIZATION_SERVER_EXAMPLE } },
  },
  getProtectedResource: {
    path: '/.well-known/oauth-protected-resource',
    summary: 'Which authorization server `/mcp` has (RFC 9728)',
    auth: 'none',
    mediaType: 'application/json',
    answers: { 200: { schema: protectedResource, example: PROTECTED_RESOURCE_EXAMPLE } },
  },
  getProtectedResourceOfMcp: {
    path: '/.well-known/oauth-protected-resource/mcp',
    summary: 'The same metadata, at the address that RFC 9728 derives from `/mcp`',
    auth: 'none',
    mediaType: 'application/json',
    answers: { 200: { schema: protectedResource, example: PROTECTED_RESOURCE_EXAMPLE } },
  },
  getServerCard: {
    path: '/mcp/server-card',
    summary: 'The MCP server card (SEP-2127): how to connect to `/mcp`',
    auth: 'none',
    mediaType: CARD_TYPE,
    cached: true,
    answers: { 200: { schema: serverCard, example: CARD_EXAMPLE } },
  },
  getWellKnownServerCard: {
    path: '/.well-known/mcp/server-card.json',
    summary: 'The same card, where clients of earlier drafts look for it',
    auth: 'none',
    mediaType: CARD_TYPE,
    cached: true,
    answers: { 200: { schema: serverCard, example: CARD_EXAMPLE } },
  },
  getAgentCard: {
    path: '/.well-known/agent-card.json',
    summary: 'The A2A card of the marketplace: it finds, rents and runs agents',
    auth: 'none',
    mediaType: 'application/json',
    cached: true,
    answers: { 200: { schema: agentCard, example: AGENT_CARD_EXAMPLE } },
  },
  getAiCatalog: {
    path: '/.well-known/ai-catalog.json',
    summary: 'The catalog that names the MCP server card',
    auth: 'none',
    mediaType: 'application/ai-catalog+json',
    cached: true,
    answers: {
      200: {
        schema: aiCatalog,
        example: {
          specVersion: '1.0',
          entries: [
            {
              identifier: 'urn:air:market.example:mcp:mcp-server',
              type: CARD_TYPE,
              url: 'https://market.example/mcp/server-card',
            },
          ],
        },
      },
    },
  },
  getSkillsIndex: {
    path: '/.well-known/skills/index.json',
    summary: 'The skills of renters: each has a document at `/.well-known/skills/NAME/SKILL.md`',
    auth: 'none',
    mediaType: 'application/json',
    cached: true,
    answers: {
      200: {
        schema: skillsIndex,
        example: {
          skills: [
            {
              name: 'find-and-rent-an-agent',
              description: 'Finds an agent on this marketplace for a task, and rents it.',
              files: ['SKILL.md'],
            },
          ],
        },
      },
    },
  },
  getLlmsTxt: {
    path: '/llms.txt',
    summary: 'An overview of the service for language models',
    auth: 'none',
    mediaType: 'text/plain',
    cached: true,
    answers: { 200: { schema: z.string(), example: '# Agent Rental Marketplace\n' } },
  },
  getAgentsGuide: {
    path: '/AGENTS.md',
    summary: 'How an agent finds, rents, runs and pays here',
    auth: 'none',
    mediaType: 'text/markdown',
    cached: true,
    answers: { 200: { schema: z.string(), example: '# Renting an agent at https://market.example\n' } },
  },
  getRobotsTxt: {
    path: '/robots.txt',
    summary: 'The pages that search engines may read (RFC 9309)',
    auth: 'none',
    mediaType: 'text/plain',
    cached: true,
    answers: { 200: { schema: z.string(), example: 'User-agent: *\nDisallow: /v1/\n' } },
  },
} as const satisfies Record<string, ServiceEndpoint>;

/** The path of MCP, whose requests and answers are described by that protocol. */
export const MCP_PATH = '/mcp';

/** The address of the marketplace as an A2A agent. Its requests and answers are described by that protocol. */
export const A2A_PATH = '/a2a';

/** The address of a listing as an A2A agent. */
export const A2A_AGENT_PATH = '/a2a/:listing_id';

/** The A2A card of a listing, where clients look for it below its address. */
export const A2A_AGENT_CARD_PATH = '/a2a/:listing_id/.well-known/agent-card.json';

/** The document of a skill: one of the marketplace, or the one of a listing on sale, whose name is its id. */
export const SKILL_PATH = '/.well-known/skills/:name/SKILL.md';

/** The names of the marketplace's skills. No listing has such an id, which ends with six characters. */
export const MARKETPLACE_SKILLS = [
  'find-and-rent-an-agent',
  'run-follow-and-cancel-runs',
  'keep-a-budget-and-pay',
] as const;

/** The first page for people: the agents that can be rented. */
export const BROWSE_PAGE_PATH = '/';

/** The index of the site map (sitemaps.org), which names its parts. */
export const SITEMAP_PATH = '/sitemap.xml';

/** A part of the site map, from 1: the addresses of agents on sale and of their creators. */
export const SITEMAP_PART_PATH = '/sitemaps/:part.xml';

/** The picture of a listing beside links to it, as PNG. */
export const PREVIEW_PICTURE_PATH = '/previews/:listing_id.png';

/** The picture of a listing that its creator gave, by its SHA-256 in hexadecimal. */
export const ICON_PATH = '/icons/:sha256';

/** The icon of the marketplace, as PNG. */
export const MARK_PATH = '/icon.png';
export const MARK_SIDE_PX = 128;

/** The page of a listing. */
export const LISTING_PAGE_PATH = '/dashboard/listings/:listing_id';

/** The public page of a creator. */
export const PROFILE_PAGE_PATH = '/creators/:wallet';

/** The page that `rent_url` of the tools leads to. */
export const RENT_PAGE_PATH = '/dashboard/rent/:listing_id';

/** The first page of a wallet that is logged in: its rentals. */
export const HOME_PAGE_PATH = '/dashboard';

/** The page of a wallet's runs. */
export const RUNS_PAGE_PATH = '/dashboard/runs';

/** The page of one run. */
export const RUN_PAGE_PATH = '/dashboard/runs/:run_id';

/** The SOL of a wallet as the chain has it, in lamports and as text: the head of a wallet's pages shows it. */
export const BALANCE_PATH = '/balances/:wallet';

/** Gives the development wallet test money; only on the embedded default. */
export const TEST_FUNDS_PATH = '/dashboard/test-funds';

/** Body of `POST /dashboard/test-funds`. */
export const testFundsBody = z.strictObject({ wallet: walletAddress }).meta({ id: 'TestFundsRequest' });

/** Answer of `POST /dashboard/test-funds`: the new balance of the wallet. */
export const testFundsGiven = z.object({ balance_lamports: lamports }).meta({ id: 'TestFunds' });
export type TestFundsGiven = z.infer<typeof testFundsGiven>;

/** The page where a wallet creates and revokes API keys. */
export const KEYS_PAGE_PATH = '/dashboard/keys';

/** The page of the open approvals of a wallet's API keys. */
export const APPROVALS_PAGE_PATH = '/dashboard/approvals';

/** The page where a person answers whether an API key may spend something; `url` of an error's `approval` leads there. */
export const APPROVAL_PAGE_PATH = '/dashboard/approvals/:approval_id';
/** The page where a person connects an app: the authorization endpoint of OAuth. */
export const CONSENT_PAGE_PATH = '/dashboard/consent';

/** The endpoints of OAuth. They answer in OAuth's form. */
export const OAUTH_PATHS = {
  authorize: CONSENT_PAGE_PATH,
  register: '/oauth/register',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
} as const;

/** The page of a wallet's events, and of the ways in which it hears of them. */
export const EVENTS_PAGE_PATH = '/dashboard/events';

/** The pages that messages lead to. A GET changes nothing, because programs that check mail follow links. */
export const EMAIL_PATHS = { confirm: '/email/confirm', unsubscribe: '/email/unsubscribe' } as const;

/** The page where a wallet sees its own agents and their earnings. */
export const CREATOR_PAGE_PATH = '/dashboard/creator';

/** Page of the operator's console. */
export const OPERATOR_PAGE_PATH = '/dashboard/operator';

/** The page where a wallet publishes an agent. */
export const PUBLISH_PAGE_PATH = '/dashboard/creator/publish';

/** The page where a wallet sees and changes one of its agents. */
export const OWN_AGENT_PAGE_PATH = '/dashboard/creator/agents/:listing_id';

/** The script of the pages that need a wallet. */
export const PAGE_SCRIPT_PATH = '/dashboard/assets/pages.js';

/** Where npm installs the packages of this marketplace from. */
export const PACKAGE_PATH = '/packages/:name.tgz';

/** Where content is served by its hash, as an IPFS gateway does. A path inside of a directory may follow. */
export const CONTENT_PATH = '/ipfs/:cid';
