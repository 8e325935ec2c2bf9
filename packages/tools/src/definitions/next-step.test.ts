import {
  ALWAYS_THERE_TOOLS,
  ERROR_CODES,
  ERROR_STATUS,
  REFUSAL_TEXT,
  type Refusal,
} from '@agent-rental/contract';
import { ApiError, ConnectionError } from '@agent-rental/sdk';
import { describe, expect, it } from 'vitest';
import { ApprovalRequiredError, SpendingRefusedError } from '../spending/policy.js';
import { resultOfError } from './error-result.js';

/** Words of the HTTP API: endpoints, methods, headers. */
const HTTP_WORDS =
  /\/v1\/|\b(GET|POST|PUT|PATCH|DELETE)\b|\bheader\b|Authorization|Content-Type|Idempotency-Key|Prefer:|Retry-After|\bX-[A-Z]/;

/** Next steps of a model. */
const NEXT = new RegExp(
  `${Object.keys(ALWAYS_THERE_TOOLS).join('|')}|[Cc]all (the same tool )?again|[Dd]o not call again|[Tt]ell `,
);

/** Statements that may occur only once in a text. */
const ONCE = [
  /nothing was (charged|spent|sent|signed|paid)/gi,
  /\bcall (the same tool )?again/gi,
  /\btry again/gi,
  /\btop (it )?up/gi,
];

function expectWordsOfTools(text: string): void {
  expect(text).toMatch(/^\[agent-rental\] [a-z_]+: /);
  expect(text).not.toMatch(HTTP_WORDS);
  expect(text).toMatch(NEXT);
  for (const said of ONCE) expect(text.match(said)?.length ?? 0, `${said} in ${text}`).toBeLessThanOrEqual(1);
  const sentences = text.split(/(?<=[.:?]) /);
  expect(new Set(sentences).size).toBe(sentences.length);
}

const REFUSALS: readonly Refusal[] = Object.values(REFUSAL_TEXT).map((refusal): Refusal => {
  if (typeof refusal !== 'function') return refusal;
  return (refusal as (...args: unknown[]) => Refusal)('run-1', 5n);
});

describe.each(ERROR_CODES)('an error of the API: %s', (code) => {
  const refusals = [{ reason: 'It cannot be done.', next: 'Send POST /v1/execute.' }, ...REFUSALS];
  const answered = refusals.flatMap(({ reason, next }) => {
    const fields = {
      code,
      status: ERROR_STATUS[code],
      message: `${reason} ${next ?? ''}`,
      reason,
      requestId: 'req_1',
    };
    return [
      fields,
      { ...fields, retryAfterSeconds: 5 },
      { ...fields, runId: 'run-1' },
      { ...fields, policyRule: 'listing_ids' as const },
      { ...fields, requiredScopes: ['rent' as const] },
      {
        ...fields,
        policyRule: 'ask_above_lamports' as const,
        approval: {
          id: 'a',
          url: 'https://market.example/dashboard/approvals/a',
          expires_at: '2026-01-05T10:00:00.000Z',
        },
      },
    ];
  });
  it.each(answered)('is reported once in the terms of the tools, with the next call [ADP-15]', (fields) => {
    const { text } = resultOfError(new ApiError(fields));
    expectWordsOfTools(text);
    expect(text).toContain(fields.reason);
  });
});

it.each([
  ['a connection that broke', new ConnectionError('The marketplace could not be reached.')],
  [
    'a refusal of the own policy',
    new SpendingRefusedError('maxRunLamports', 'The most for a run is 5 lamports.'),
  ],
  [
    'a missing approval',
    new ApprovalRequiredError({ kind: 'run', agentId: 'a-aaaaaa', title: 'A', lamports: 5 }),
  ],
  ['another transaction', Object.assign(new Error('It pays more.'), { name: 'UntrustedTransactionError' })],
])('%s is reported in the same way [ADP-15]', (_name, error) => {
  expectWordsOfTools(resultOfError(error).text);
});
