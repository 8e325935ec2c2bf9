import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CATEGORIES,
  credentialVerification,
  ERROR_STATUS,
  job,
  lamportsFromSol,
  listCredentialsQuery,
  listing,
  listingId,
  manifest,
  rentalModel,
  run,
  searchListingsQuery,
  solFromLamports,
  TOOL_SCOPES,
} from './index.js';

const valid = {
  name: 'invoice-reader',
  category: 'finance',
  description: 'Reads invoices.',
  model: { provider: 'openai', model: 'some-model' },
  system_prompt: 'Read the invoice.',
  input_schema: { type: 'object' },
  output_schema: { type: 'string' },
};

const issuesOf = (value: unknown) => {
  const parsed = manifest.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.map((issue) => issue.path.join('.'));
};

describe('a manifest', () => {
  test('gets a timeout of 60 s when it names none [MAN-14]', () => {
    expect(manifest.parse(valid).timeout_seconds).toBe(60);
  });

  test.each([
    ['a name that is not kebab-case', { name: 'Invoice Reader' }, 'name'],
    ['a category outside the six', { category: 'weather' }, 'category'],
    ['a timeout above 300 s', { timeout_seconds: 301 }, 'timeout_seconds'],
    ['a vendor without a model', { model: { provider: 'anthropic' } }, 'model.model'],
    ['a self-hosted model without an endpoint', { model: { provider: 'self_hosted' } }, 'model.endpoint_url'],
    ['neither prompt nor entrypoint', { system_prompt: undefined }, 'system_prompt'],
    ['both prompt and entrypoint', { entrypoint_url: 'https://agent.example/' }, 'entrypoint_url'],
    ['an unknown tool', { tools: [{ name: 'rm_rf', scope: 'input_only' }] }, 'tools.0.name'],
    ['a tool under another scope', { tools: [{ name: 'read_input', scope: 'read_only' }] }, 'tools.0.scope'],
    ['an unknown field', { secret: 1 }, ''],
    [
      'more than ten tools',
      { tools: Array.from({ length: 11 }, () => ({ name: 'read_input', scope: TOOL_SCOPES.read_input })) },
      'tools',
    ],
  ])('with %s is refused at its path', (_, change, path) => {
    expect(issuesOf({ ...valid, ...change })).toContain(path);
  });

  test('is refused with all its violations at once', () => {
    const paths = issuesOf({ ...valid, name: 'X', category: 'weather', timeout_seconds: 0 });
    expect(paths).toEqual(expect.arrayContaining(['name', 'category', 'timeout_seconds']));
  });

  test('of a connected agent has no tools [MAN-16]', () => {
    const { system_prompt: _, ...rest } = valid;
    const tools = [{ name: 'read_input', scope: 'input_only' }];
    expect(issuesOf({ ...rest, entrypoint_url: 'https://agent.example/', tools })).toContain('tools');
  });
});

describe('amounts', () => {
  test('in SOL lose no lamport, up to the largest price [LST-7, MON-12]', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1_000_000_000_000_000n }), (lamports) => {
        expect(lamportsFromSol(solFromLamports(lamports))).toBe(lamports);
      }),
    );
  });
});

test.each(['invoice-reader-k3x7qa', 'a-bbbbbb'])('%s is a listing id', (id) => {
  expect(listingId.safeParse(id).success).toBe(true);
});

test.each(['', 'invoice', 'Invoice-k3x7qa', '-k3x7qa', 'a--k3x7qa', 'a-k3x7q1', `${'a'.repeat(26)}-k3x7qa`])(
  '%j is no listing id',
  (id) => {
    expect(listingId.safeParse(id).success).toBe(false);
  },
);

test('the errors are the fourteen of the specification and not_found, each with its status [ERR-5]', () => {
  expect(ERROR_STATUS).toEqual({
    unauthorized: 401,
    invalid_api_key: 401,
    jwt_expired: 401,
    invalid_signature: 401,
    credential_not_found: 403,
    credential_expired: 403,
    insufficient_balance: 403,
    listing_paused: 403,
    listing_suspended: 403,
    invalid_request: 400,
    invalid_listing_id: 400,
    listing_not_found: 404,
    rate_limit_exceeded: 429,
    internal_error: 500,
    service_unavailable: 503,
    not_found: 404,
  });
});

test('categories, models and states are the ones in the specification, and suspended [LST-44, REG-1]', () => {
  expect(CATEGORIES).toEqual(['finance', 'legal', 'coding', 'research', 'sales', 'content']);
  expect(rentalModel.options).toEqual(['one_time', 'subscription', 'per_query']);
  expect(listing.shape.status.options).toEqual(['active', 'paused', 'closed', 'suspended']);
  const { status } = credentialVerification.shape;
  expect(status.options).toEqual(['active', 'expired', 'low_balance', 'suspended', 'not_found']);
  expect(run.shape.status.options).toEqual(['completed', 'failed']);
  expect(job.shape.status.options).toEqual(['queued', 'completed', 'failed']);
});

test.each([
  ['listings', searchListingsQuery],
  ['credentials', listCredentialsQuery],
])('a page of %s has 20 from the first, and 100 at most [LST-28, CRD-4]', (_, query) => {
  expect(query.parse({})).toMatchObject({ limit: 20, offset: 0 });
  expect(query.safeParse({ limit: '100' }).success).toBe(true);
  expect(query.safeParse({ limit: '101' }).success).toBe(false);
});

test('a search is sorted by relevance when it names no order [LST-24]', () => {
  expect(searchListingsQuery.parse({ q: 'invoices' }).sort).toBe('relevance');
});

describe('a number in a query', () => {
  const { limit } = searchListingsQuery.shape;
  const price = searchListingsQuery.shape.min_price;

  test.each([
    ['1', 1],
    ['100', 100],
    ['007', 7],
  ])('is read from its digits: %s [LST-28]', (text, number) => {
    expect(limit.parse(text)).toBe(number);
  });

  test.each([
    ['0.000001', 0.000001],
    ['1e-6', 0.000001],
    [String(1e-7), 1e-7],
  ])('may have a fraction where it is a price: %s [LST-22]', (text, number) => {
    expect(price.parse(text)).toBe(number);
  });

  test.each([
    '',
    ' ',
    ' 5',
    '5 ',
    '0x10',
    '0b1',
    '+5',
    '.5',
    '5.',
    '1_0',
    'Infinity',
    'NaN',
    'true',
    'null',
    '1e',
    ['5'],
    null,
  ])('is not taken out of %j [LST-29]', (text) => {
    expect(limit.safeParse(text).success).toBe(false);
    expect(price.safeParse(text).success).toBe(false);
  });

  test('is 20 where a page names no limit [LST-28]', () => {
    expect(searchListingsQuery.parse({})).toMatchObject({ limit: 20, offset: 0 });
  });
});
