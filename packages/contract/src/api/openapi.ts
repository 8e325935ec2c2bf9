import type * as z from 'zod';
import { ERROR_STATUS, errorEnvelope } from '../errors/errors.js';
import { operationExamples } from './operation-examples.js';
import { givenListingId } from '../primitives.js';
import type { Operation } from './operation.js';
import { operations, type OperationId } from './operations.js';
import { describeRequiredScope } from './scopes.js';
import { describeA2a } from './openapi-a2a.js';
import { describeOAuth } from './openapi-oauth.js';
import { runSummary } from '../runs/execution.js';
import { paymentInfo, paymentRequired } from './openapi-payments.js';
import { describeWebhooks } from './openapi-webhooks.js';
import { addTags, TAGS } from './openapi-tags.js';
import { defaultInWords, rewriteReferences, toSchema, type Schema } from './openapi-schemas.js';
import {
  APPROVAL_PAGE_PATH,
  APPROVALS_PAGE_PATH,
  BROWSE_PAGE_PATH,
  CONSENT_PAGE_PATH,
  CONTENT_PATH,
  PACKAGE_PATH,
  CREATOR_PAGE_PATH,
  EMAIL_PATHS,
  EVENTS_PAGE_PATH,
  OPERATOR_PAGE_PATH,
  HOME_PAGE_PATH,
  KEYS_PAGE_PATH,
  LISTING_PAGE_PATH,
  MCP_PATH,
  OWN_AGENT_PAGE_PATH,
  PAGE_SCRIPT_PATH,
  PROFILE_PAGE_PATH,
  PUBLISH_PAGE_PATH,
  RENT_PAGE_PATH,
  RUN_PAGE_PATH,
  RUNS_PAGE_PATH,
  serviceEndpoints,
  BALANCE_PATH,
  ICON_PATH,
  MARK_PATH,
  PREVIEW_PICTURE_PATH,
  SITEMAP_PART_PATH,
  SITEMAP_PATH,
  SKILL_PATH,
  TEST_FUNDS_PATH,
  testFundsBody,
  testFundsGiven,
  type ServiceEndpoint,
} from './service-endpoints.js';

/** Headers of every answer. */
const HEADERS = {
  'X-Request-Id': { description: 'Id of the request; give it to support.', schema: { type: 'string' } },
  'X-RateLimit-Limit': { description: 'Requests per minute.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in this window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'Unix seconds at which the window ends.',
    schema: { type: 'integer' },
  },
};

/** Bytes of any type. OpenAPI 3.1 allows a media type without a schema, but generators leave such a type out. */
const BYTES = { schema: { type: 'string', format: 'binary' } };
const UPLOAD = { 'application/octet-stream': BYTES, '*/*': BYTES };

const NOT_MODIFIED = 'The copy in If-None-Match is current';

/** Statuses of bodies that are too large, compressed, or of another type. */
const BODY_STATUSES = [413, 415];

/** Statuses of errors that any operation may answer with. */
const ERROR_STATUSES = [...new Set(Object.values(ERROR_STATUS))].sort((a, b) => a - b);

/**
 * The OpenAPI 3.1 document of the API, made from the operations.
 *
 * @param version version of this software, for `info.version`
 */
export function openApiDocument(version: string): Schema {
  const components: Record<string, Schema> = {};
  const errorSchema = toSchema(errorEnvelope, 'output', components);
  const paths: Record<string, Record<string, Schema>> = {};
  for (const [id, operation] of Object.entries(operations) as [OperationId, Operation][]) {
    const path = operation.path.replaceAll(/:([a-z_]+)/g, '{$1}');
    const item = (paths[path] ??= {});
    item[operation.method.toLowerCase()] = describe(id, operation, errorSchema, components);
  }
  for (const [id, endpoint] of Object.entries(serviceEndpoints) as [string, ServiceEndpoint][]) {
    paths[endpoint.path] = { get: describeService(id, endpoint, errorSchema, components) };
  }
  Object.assign(paths, describePages(errorSchema), describeOAuth(HEADERS), {
    [TEST_FUNDS_PATH]: { post: describeTestFunds(errorSchema, components) },
    [CONTENT_PATH.replace(/:([a-z_]+)/, '{$1}')]: { get: describeContent(errorSchema) },
    [PACKAGE_PATH.replace(':name', '{name}')]: { get: describePackage(errorSchema) },
    [MCP_PATH]: MCP,
    ...describeA2a(LISTING_OF_PAGE, cachedAnswers(errorSchema)),
    [SKILL_PATH.replace(':name', '{name}')]: { get: describeSkill(cachedAnswers(errorSchema)) },
  });
  addTags(paths);
  return rewriteReferences({
    openapi: '3.1.0',
    info: {
      title: 'Agent Rental Marketplace API',
      version,
      description:
        'Find, rent and run AI agents. Every answer carries X-Request-Id and the rate headers. A request that arrives too ' +
        'slowly is answered 408, one with too large headers 431, each with an `ErrorEnvelope`.',
      contact: { name: 'The operator of this marketplace' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: TAGS,
    paths,
    webhooks: describeWebhooks(components),
    components: {
      schemas: components,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key, or the token of a wallet login; at /mcp also the access token of a connected app. A program with a ' +
            'wallet may have an access token for the API. A token that is bound to a key has the scheme DPoP (RFC 9449).',
        },
        operator: {
          type: 'http',
          scheme: 'bearer',
          description: 'The METRICS_TOKEN of the operator, where one is set.',
        },
      },
    },
  });
}

/** The document `{"hello":"world"}`. */
const CONTENT_EXAMPLE = 'baguqeerasords4njcts6vs7qvdjfcvgnume4hqohf65zsfguprqphs3icwea';

function describe(
  id: OperationId,
  operation: Operation,
  errorSchema: Schema,
  components: Record<string, Schema>,
): Schema {
  const example = operationExamples[id];
  const errors = ERROR_STATUSES.filter((status) => operation.auth === 'bearer' || status !== 403);
  return {
    operationId: id,
    summary: operation.summary,
    ...(operation.auth === 'bearer' ? { description: describeRequiredScope(operation.scope) } : {}),
    security: operation.auth === 'bearer' ? [{ bearer: [] }] : [],
    ...paymentInfo(operation),
    parameters: [
      ...parameters(operation.params, 'path', example.params, components),
      ...parameters(operation.query, 'query', example.query, components),
      ...Object.entries(operation.headers ?? {}).map(([name, description]) => ({
        name,
        in: 'header',
        required: false,
        description,
        schema: { type: 'string' },
      })),
    ],
    ...(operation.body
      ? {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: toSchema(operation.body, 'input', components, defaultInWords),
                example: example.body,
              },
            },
          },
        }
      : {}),
    ...(operation.upload ? { requestBody: { required: true, content: UPLOAD } } : {}),
    responses: {
      [operation.status]: {
        description: 'Success',
        headers: HEADERS,
        content: describeContentOf(operation, example.response, components),
      },
      ...(operation.accepted
        ? {
            202: {
              description: 'The work continues. Location is the address of its state.',
              headers: { ...HEADERS, Location: { schema: { type: 'string' } } },
              content: {
                'application/json': {
                  schema: toSchema(operation.accepted, 'output', components),
                  example: example.accepted,
                },
              },
            },
          }
        : {}),
      ...describeErrors(errors, errorSchema),
      ...paymentRequired(operation, HEADERS, errorSchema),
      ...(operation.body || operation.upload ? describeErrors(BODY_STATUSES, errorSchema) : {}),
    },
  };
}

/** The successful answer of an operation: JSON, a stream of events, or either. */
function describeContentOf(
  { stream, events, response }: Operation,
  example: unknown,
  components: Record<string, Schema>,
): Schema {
  const schema = toSchema(response, 'output', components);
  const described = stream ? { schema, example } : { schema: { type: 'string' } };
  return {
    ...(stream ? {} : { 'application/json': { schema, example } }),
    ...(events
      ? { 'text/event-stream': { ...described, 'x-event-schema': eventSchema(events, components) } }
      : {}),
  };
}

/** One path that speaks JSON-RPC. No OpenAPI operation can describe it. */
const MCP = {
  summary: 'The Model Context Protocol',
  description:
    'Streamable HTTP, with the same bearer as `/v1`: search, rent and run agents as tools. ' +
    'The protocol defines the messages.',
};

/** The errors of a cached document with a parameter, and its 304. */
function cachedAnswers(errorSchema: Schema): Record<string, Schema> {
  return {
    ...describeErrors([400, 404, 429, ...SERVICE_ERRORS], errorSchema),
    304: { description: NOT_MODIFIED, headers: HEADERS },
  };
}

function describeSkill(others: Record<string, Schema>): Schema {
  return {
    operationId: 'getSkill',
    summary: 'A skill: one of the marketplace, or the one of a listing on sale',
    description: 'The name of a listing’s skill is the id of the listing. The index lists the others.',
    security: [],
    parameters: [
      { name: 'name', in: 'path', required: true, schema: TEXT, example: 'find-and-rent-an-agent' },
    ],
    responses: {
      ...others,
      200: {
        description: 'Success',
        headers: others['304']?.['headers'],
        content: { 'text/markdown': { schema: TEXT } },
      },
    },
  };
}

function describePackage(errorSchema: Schema): Schema {
  const example = 'agent-rental';
  return {
    operationId: 'getPackage',
    summary: 'A package of this marketplace, for npm and npx',
    description:
      'Programs have all dependencies inside. Libraries name them. `ETag` is the integrity of npm.',
    security: [],
    parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' }, example }],
    responses: {
      ...describeErrors([404, 429, ...SERVICE_ERRORS], errorSchema),
      200: {
        description: 'Success',
        headers: { ...HEADERS, ETag: { schema: { type: 'string' } } },
        content: { 'application/octet-stream': BYTES },
      },
      304: { description: NOT_MODIFIED, headers: HEADERS },
    },
  };
}

function describeContent(errorSchema: Schema): Schema {
  const text = { type: 'string' };
  return {
    operationId: 'getContent',
    summary: 'Public content of this service by its hash, as a trustless IPFS gateway answers',
    description:
      'Each document is one block. `Accept: application/vnd.ipld.raw` and `application/vnd.ipld.car` are the same ' +
      'as `format`. The service serves only its own documents.',
    security: [],
    parameters: [
      { name: 'cid', in: 'path', required: true, schema: text, example: CONTENT_EXAMPLE },
      {
        name: 'format',
        in: 'query',
        required: false,
        description: 'The block, a CAR of the block, or the JSON document. Documents are JSON by default.',
        schema: { type: 'string', enum: ['raw', 'car', 'json', 'dag-json'] },
      },
      {
        name: 'dag-scope',
        in: 'query',
        required: false,
        description: 'Accepted for a CAR. Every scope has the one block.',
        schema: { type: 'string', enum: ['block', 'entity', 'all'], default: 'all' },
      },
    ],
    responses: {
      ...describeErrors([400, 404, 429, ...SERVICE_ERRORS], errorSchema),
      200: {
        description: 'Success',
        headers: { ...HEADERS, ETag: { schema: text } },
        content: { 'application/octet-stream': BYTES },
      },
      304: { description: NOT_MODIFIED, headers: HEADERS },
    },
  };
}

const TEXT: Schema = { type: 'string' };
const LISTING_ID = toSchema(givenListingId, 'input', {});
const RUN_STATUS = toSchema(runSummary.shape.status, 'input', {});
/** A form sends an empty text for a field without a choice. */
const orEmpty = (schema: Schema): Schema => ({ anyOf: [schema, { const: '' }] });
const LISTING_OF_PAGE = {
  name: 'listing_id',
  in: 'path',
  required: true,
  schema: LISTING_ID,
  example: 'expense-reconciler-7k2m4q',
};

const WALLET_OF_PAGE = {
  name: 'wallet',
  in: 'path',
  required: true,
  schema: TEXT,
  example: '7o5JQKMq5qJ7FntBcZW6cyTxW9ZGpiXeKEYCHjCnfuPk',
};

/** The pages for people, by path. Their errors are pages, too, for a client that accepts HTML. */
function describePages(errorSchema: Schema): Record<string, Schema> {
  const pathOf = (path: string) => path.replace(/:(\w+)/, '{$1}');
  const page = (
    operationId: string,
    summary: string,
    parameters: Schema[],
    ...[type = 'text/html', ...types]: string[]
  ): Schema => ({
    get: {
      operationId,
      summary: `A page for people: ${summary}`,
      security: [],
      parameters,
      responses: {
        ...describeErrors([400, 403, 404, 429, ...SERVICE_ERRORS], errorSchema),
        200: {
          description: 'Success',
          headers: HEADERS,
          content: Object.fromEntries([type, ...types].map((each) => [each, { schema: TEXT }])),
        },
      },
    },
  });
  const query = (name: string, description: string, example: string, schema = TEXT): Schema => ({
    name,
    in: 'query',
    required: false,
    description,
    schema,
    example,
  });
  /** A page of a message, and its button. */
  const email = (kind: keyof typeof EMAIL_PATHS, summary: string): Schema => {
    const token = {
      ...query('token', 'Of the message.', 'A1b2'.repeat(11).slice(1)),
      required: true,
    };
    const { get } = page(`${kind}EmailPage`, `where a message leads, to ${summary}`, [token]);
    const described = get as Schema & { responses: Schema };
    return {
      get,
      post: {
        ...described,
        operationId: `${kind}EmailFormPage`,
        summary: `The button of that page: ${summary}`,
        responses: { ...describeErrors([413], errorSchema), ...described.responses },
      },
    };
  };
  return {
    [BROWSE_PAGE_PATH]: page('getBrowsePage', 'the agents that can be rented', [
      query('q', 'Words to search for.', 'invoices'),
    ]),
    [pathOf(LISTING_PAGE_PATH)]: page('getListingPage', 'a listing with its price, input and output', [
      LISTING_OF_PAGE,
    ]),
    [pathOf(PROFILE_PAGE_PATH)]: page('getProfilePage', 'a creator and its agents', [WALLET_OF_PAGE]),
    [SITEMAP_PATH]: page('getSitemap', 'the site map for search engines', [], 'text/xml'),
    [pathOf(SITEMAP_PART_PATH)]: page(
      'getSitemapPart',
      'a part of the site map, with agents and creators',
      [{ name: 'part', in: 'path', required: true, schema: { type: 'string' }, example: '1' }],
      'text/xml',
    ),
    [pathOf(PREVIEW_PICTURE_PATH)]: page(
      'getPreviewPicture',
      'the picture of a listing beside links to it',
      [LISTING_OF_PAGE],
      'image/png',
    ),
    [pathOf(ICON_PATH)]: page(
      'getIcon',
      'the picture of a listing that its creator gave',
      [{ name: 'sha256', in: 'path', required: true, schema: TEXT, example: 'ab'.repeat(32) }],
      'image/png',
      'image/webp',
    ),
    [MARK_PATH]: page('getMark', 'the icon of the marketplace', [], 'image/png'),
    [pathOf(BALANCE_PATH)]: page(
      'getWalletBalance',
      'the SOL of a wallet in lamports, which the head of its pages shows',
      [WALLET_OF_PAGE],
      'text/plain',
    ),
    [EVENTS_PAGE_PATH]: page('getEventsPage', 'the events of a wallet, and how it hears of them', []),
    [EMAIL_PATHS.confirm]: email('confirm', 'confirm an e-mail address'),
    [EMAIL_PATHS.unsubscribe]: email('unsubscribe', 'get no more messages'),
    [HOME_PAGE_PATH]: page('getHomePage', 'the rentals of a wallet', []),
    [RUNS_PAGE_PATH]: page('getRunsPage', 'the runs of a wallet', [
      query('agent_id', 'Runs of this listing alone.', LISTING_OF_PAGE.example, orEmpty(LISTING_ID)),
      query('status', 'Runs of this status alone.', 'completed', orEmpty(RUN_STATUS)),
    ]),
    [pathOf(RUN_PAGE_PATH)]: page('getRunPage', 'one run, its output and its receipt', [
      {
        name: 'run_id',
        in: 'path',
        required: true,
        schema: TEXT,
        example: '0f8fad5b-d9cb-469f-a165-70867728950e',
      },
    ]),
    [KEYS_PAGE_PATH]: page('getKeysPage', 'where a wallet creates and revokes API keys', []),
    [APPROVALS_PAGE_PATH]: page('getApprovalsPage', 'the approvals that API keys ask for', []),
    [pathOf(APPROVAL_PAGE_PATH)]: page('getApprovalPage', 'one question of an API key, and its answer', [
      {
        name: 'approval_id',
        in: 'path',
        required: true,
        description: 'The question, as the link names it.',
        schema: TEXT,
        example: operationExamples.getApproval.params?.['approval_id'],
      },
    ]),
    [CONSENT_PAGE_PATH]: page('getConsentPage', 'where a wallet connects an app that asks for it by OAuth', [
      query('client_id', 'The app.', 'https://app.example/oauth/client.json'),
      query('redirect_uri', 'Where the answer goes.', 'https://app.example/callback'),
    ]),
    [OPERATOR_PAGE_PATH]: page('getOperatorPage', "the operator's console", []),
    [CREATOR_PAGE_PATH]: page('getCreatorPage', 'where a wallet sees its own agents and earnings', []),
    [PUBLISH_PAGE_PATH]: page('getPublishPage', 'where a wallet publishes an agent', []),
    [pathOf(OWN_AGENT_PAGE_PATH)]: page('getOwnAgentPage', 'where a wallet changes one of its agents', [
      LISTING_OF_PAGE,
    ]),
    [PAGE_SCRIPT_PATH]: page(
      'getPageScript',
      'the script of the pages that need a wallet',
      [],
      'text/javascript',
    ),
    [pathOf(RENT_PAGE_PATH)]: page('getRentPage', 'the cost of a rental, and its payment', [
      LISTING_OF_PAGE,
      query('max_total_lamports', 'The total cost that the link offered.', '12000000'),
    ]),
  };
}

/** How the development wallet gets test money. */
function describeTestFunds(errorSchema: Schema, components: Record<string, Schema>): Schema {
  const wallet = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
  const json = (schema: Schema, example: unknown) => ({ 'application/json': { schema, example } });
  return {
    operationId: 'giveTestFunds',
    summary: 'Give a wallet SOL of the local chain; on the embedded default alone, elsewhere it is 404',
    security: [],
    requestBody: {
      required: true,
      content: json(toSchema(testFundsBody, 'input', components), { wallet }),
    },
    responses: {
      ...describeErrors([400, 404, ...BODY_STATUSES, 429, ...SERVICE_ERRORS], errorSchema),
      200: {
        description: 'Success',
        headers: HEADERS,
        content: json(toSchema(testFundsGiven, 'output', components), { balance_lamports: 10_000_000_000 }),
      },
    },
  };
}

/** Errors that any endpoint outside `/v1` may answer with. */
const SERVICE_ERRORS = [500, 503];

function describeService(
  id: string,
  endpoint: ServiceEndpoint,
  errorSchema: Schema,
  components: Record<string, Schema>,
): Schema {
  const errors = describeErrors([...(endpoint.errors ?? []), ...SERVICE_ERRORS], errorSchema);
  const answers = Object.entries(endpoint.answers).map(([status, { schema, example }]) => {
    const described = toSchema(schema, 'output', components);
    // The endpoint's answer may have the status of an error.
    const either = errors[status] ? { anyOf: [described, errorSchema] } : described;
    const description = status === '200' ? 'Success' : 'Not now';
    return [
      status,
      { description, headers: HEADERS, content: { [endpoint.mediaType]: { schema: either, example } } },
    ];
  });
  return {
    operationId: id,
    summary: endpoint.summary,
    security: endpoint.auth === 'operator' ? [{}, { operator: [] }] : [],
    responses: {
      ...errors,
      ...Object.fromEntries(answers),
      ...(endpoint.cached ? { 304: { description: NOT_MODIFIED, headers: HEADERS } } : {}),
    },
  };
}

function describeErrors(statuses: readonly number[], errorSchema: Schema): Record<string, Schema> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description:
          Object.entries(ERROR_STATUS)
            .filter(([, of]) => of === status)
            .map(([code]) => code)
            .join(', ') || 'invalid_request',
        headers: HEADERS,
        content: { 'application/json': { schema: errorSchema } },
      },
    ]),
  );
}

/** One event of a stream. OpenAPI 3.2 has `itemSchema` for it; OpenAPI 3.1 needs an extension. */
function eventSchema(
  events: Readonly<Record<string, z.ZodType>>,
  components: Record<string, Schema>,
): Schema {
  const alternatives = Object.entries(events).map(([event, data]) => ({
    type: 'object',
    properties: {
      event: { const: event },
      data: {
        type: 'string',
        contentMediaType: 'application/json',
        contentSchema: toSchema(data, 'output', components),
      },
    },
    required: ['event', 'data'],
  }));
  return { oneOf: alternatives };
}

function parameters(
  schema: z.ZodObject | undefined,
  where: 'path' | 'query',
  example: Readonly<Record<string, unknown>> | undefined,
  components: Record<string, Schema>,
): Schema[] {
  if (!schema) return [];
  const whole = toSchema(schema, 'input', components);
  const required = (whole['required'] ?? []) as string[];
  return Object.entries(whole['properties'] as Record<string, Schema>).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: property,
    ...(example?.[name] === undefined ? {} : { example: example[name] }),
  }));
}
