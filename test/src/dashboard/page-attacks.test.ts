import { beforeAll, describe, expect, inject, test } from 'vitest';
import { codeSpans, readText, tableUnder } from '../docs/repository.js';
import { attach, type Marketplace } from '../support/marketplace.js';

const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8';
/** The pages of the router: a new page is attacked, too. */
const PAGES = inject('routes')
  .filter(({ method, path }) => method === 'GET' && /^\/(?:dashboard(?:\/|$)|creators\/|$)/.test(path))
  .map(({ path }) => path)
  .filter((path) => !path.startsWith('/dashboard/assets/'));

const HOSTILE_SEGMENTS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onload='alert(1)",
  '../../etc/passwd',
  'javascript:alert(1)',
  '\u202eevil\u2066',
  '\u0000',
  'x'.repeat(190),
];
/** Parameter names by which servers redirect, look up or merge. */
const HOSTILE_QUERIES = [
  'next=https://evil.example/&redirect=//evil.example&return_to=https:evil.example&url=javascript:alert(1)',
  // Each by itself: a page refuses the whole address for one unknown parameter.
  ...['q', 'category', 'status', 'agent_id', 'job', 'state', 'client_id', 'redirect_uri'].flatMap((name) =>
    ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>'].map(
      (words) => `${name}=${encodeURIComponent(words)}`,
    ),
  ),
  '__proto__[isAdmin]=1&constructor.prototype.x=1&q[]=1&q=1&q=2',
  'max_total_lamports=-1e9&offset=999999999999&limit=0&job=%00',
  'q=a%00b',
  `q=${'%F0%9F%92%A3'.repeat(400)}`,
];

let marketplace: Marketplace;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
});

async function visit(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(marketplace.dev.base_url + path, {
    redirect: 'manual',
    headers: { accept: BROWSER, ...headers },
  });
  return { status: answer.status, headers: answer.headers, html: await answer.text() };
}

/** The part that is the same in every answer: the nonce and the id of the request are left out. */
const lasting = (html: string) => html.replaceAll(/nonce="[^"]*"|data-nonce="[^"]*"|req_[\w-]+/g, '');

function expectSafe({ status, headers, html }: Awaited<ReturnType<typeof visit>>): void {
  expect(status).toBeLessThan(500);
  expect(headers.get('location')).toBeNull();
  expect(headers.get('set-cookie')).toBeNull();
  expect(headers.get('access-control-allow-credentials')).toBeNull();
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'.*form-action 'self'.*frame-ancestors 'none'.*base-uri 'none'/,
  );
  // Without the values of attributes, in which escaped text is harmless.
  const tags = html.replaceAll(/"[^"]*"/g, '""');
  expect(tags).not.toMatch(
    /<script(?! type="" src="" nonce="">)|<svg(?! class="" viewBox="" aria-hidden="">)|<img(?! class="" src="" alt loading=""\/>)|<(?:iframe|object|embed)\b|<\w[^>]*\son\w+=/i,
  );
  expect(html).not.toMatch(/(?:href|src|action)="(?:javascript:|[^"]*evil\.example)/i);
  expect(html).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  expect(html).not.toContain('\0');
  expect(html).not.toMatch(/<form[^>]*method="?post/i);
  expect(html).not.toMatch(/node_modules|\bat \w+ \(|ECONN|kysely/i);
}

test('docs/dashboard.md has a row for each page [SVC-17]', () => {
  const rows = tableUnder(readText('docs/dashboard.md'), 'The pages for people');
  const listed = rows.flatMap(([page]) => codeSpans(page ?? ''));
  const shapesOf = (paths: string[]) => paths.map((path) => path.replaceAll(/:\w+/g, ':')).toSorted();
  expect(shapesOf(listed)).toEqual(shapesOf(PAGES));
});

describe.each(PAGES)('the page %s', (pattern) => {
  const usual = pattern.replaceAll(/:\w+/g, 'nothing-aaaaaa');

  test('shows hostile addresses as text or not at all, and leads nowhere else [SVC-17]', async () => {
    if (pattern.includes(':')) {
      for (const segment of HOSTILE_SEGMENTS) {
        expectSafe(await visit(pattern.replaceAll(/:\w+/g, encodeURIComponent(segment))));
      }
    }
    for (const query of HOSTILE_QUERIES) expectSafe(await visit(`${usual}?${query}`));
  });

  test('uses no cookie, so that there is no session to fix, and takes no form from another site [SVC-17]', async () => {
    const plain = await visit(usual);
    expectSafe(plain);
    const given = await visit(usual, {
      cookie: 'session=fixed; token=fixed',
      origin: 'https://evil.example',
    });
    expect(given.status).toBe(plain.status);
    expect(lasting(given.html)).toBe(lasting(plain.html));
    const posted = await fetch(marketplace.dev.base_url + usual, {
      method: 'POST',
      headers: { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' },
      body: 'a=1',
    });
    expect([404, 405]).toContain(posted.status);
  });

  test('has a new nonce in each answer, where it has a script [SVC-17]', async () => {
    const nonces = await Promise.all(
      [1, 2, 3].map(async () => {
        const { headers } = await visit(usual);
        return /script-src 'nonce-([\w-]{22})'/.exec(headers.get('content-security-policy') ?? '')?.[1];
      }),
    );
    const given = nonces.filter((nonce) => nonce !== undefined);
    expect(new Set(given).size).toBe(given.length);
  });
});
