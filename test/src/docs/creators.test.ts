import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LAMPORTS_PER_SOL } from '@solana/web3.js';
import {
  MANIFEST_MAX_TOOLS,
  MODEL_PROVIDERS,
  manifest,
  listingTerms,
  PRICE_LAMPORTS,
  RENTAL_MODELS,
  TIMEOUT_SECONDS,
  TOOL_SCOPES,
} from '@agent-rental/contract';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readText } from './repository.js';

const GUIDE = readText('docs/creators.md');
const SECRET = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
const BODY = '{"task":"Zähle."}';

const program = (language: string): string => {
  const [, code] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(GUIDE) ?? [];
  if (code === undefined) throw new Error(`The guide has no ${language}.`);
  return code;
};

let python = true;
try {
  execFileSync('python3', ['--version']);
} catch {
  python = false;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agent rental guide '));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The answers of each verifier to the same calls, which it reads as JSON from its standard input. */
const VERIFIERS: Readonly<Record<string, (calls: string) => string>> = {
  ts: (calls) => {
    const file = join(folder, 'verify.mts');
    const main =
      "\nimport { readFileSync } from 'node:fs';\n" +
      "const calls = JSON.parse(readFileSync(0, 'utf8'));\n" +
      'console.log(JSON.stringify(calls.map((c: any) => isSigned(c.secret, c.headers, Buffer.from(c.body)))));\n';
    writeFileSync(file, program('ts') + main);
    return execFileSync(process.execPath, ['--import', import.meta.resolve('tsx'), file], {
      input: calls,
      encoding: 'utf8',
    });
  },
  python: (calls) => {
    const main =
      '\nimport json, sys\n' +
      'calls = json.load(sys.stdin)\n' +
      'print(json.dumps([is_signed(c["secret"], c["headers"], c["body"].encode()) for c in calls]))\n';
    const file = join(folder, 'verify.py');
    writeFileSync(file, program('python') + main);
    return execFileSync('python3', [file], { input: calls, encoding: 'utf8' });
  },
};

describe('the guide for creators', () => {
  it.for(Object.keys(VERIFIERS))(
    'has a verifier in %s that accepts the marketplace’s signatures and nothing else [SDK-10]',
    (language, { skip }) => {
      if (language === 'python' && !python) skip('There is no Python 3.');
      const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000);
      const headers = (sentAt: Date, ...secrets: string[]) => ({
        'webhook-id': 'run',
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
        'webhook-signature': secrets.map((one) => new Webhook(one).sign('run', sentAt, BODY)).join(' '),
      });
      const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
      const good = headers(at(0), SECRET);
      const cases: [boolean, object][] = [
        [true, good],
        [true, headers(at(250), SECRET)],
        [true, headers(at(0), other, SECRET)],
        [false, headers(at(0), other)],
        [false, headers(at(600), SECRET)],
        [false, headers(at(-600), SECRET)],
        [false, { ...good, 'webhook-id': 'another' }],
        [false, { ...good, 'webhook-timestamp': 'NaN' }],
        [false, { ...good, 'webhook-signature': 'v1,ä' }],
        [false, { 'webhook-id': 'run', 'webhook-timestamp': good['webhook-timestamp'] }],
        [false, {}],
      ];
      const calls = [
        ...cases.map(([, given]) => ({ secret: SECRET, headers: given, body: BODY })),
        { secret: SECRET, headers: good, body: `${BODY} ` },
      ];
      const said = VERIFIERS[language]?.(JSON.stringify(calls)) ?? '';
      expect(JSON.parse(said)).toEqual([...cases.map(([isGood]) => isGood), false]);
    },
  );

  it('has openssl make the signature that docs/events.md compares', () => {
    const [, code = ''] = /```sh\n(KEY=[^]*?)```/.exec(readText('docs/events.md')) ?? [];
    const sentAt = new Date();
    const env = {
      ...process.env,
      SECRET,
      ID: 'run',
      TIMESTAMP: String(Math.floor(sentAt.getTime() / 1000)),
      BODY,
    };
    const said = execFileSync('bash', ['-c', code], { env, encoding: 'utf8' });
    expect(`v1,${said.trim()}`).toBe(new Webhook(SECRET).sign('run', sentAt, BODY));
  });

  it('names every field of a manifest and of its terms, every tool and provider, and the limits', () => {
    const { model, ...fields } = manifest.shape;
    const named = [
      ...Object.keys(fields),
      ...Object.keys(model.shape).map((name) => `model.${name}`),
      ...Object.keys(listingTerms.shape),
      ...Object.keys(TOOL_SCOPES),
      ...Object.keys(MODEL_PROVIDERS),
      ...RENTAL_MODELS,
    ];
    for (const name of named) expect(GUIDE).toContain(`\`${name}\``);
    const glossary = readText('docs/glossary.md');
    for (const name of RENTAL_MODELS) expect(glossary).toContain(`\`${name}\``);
    for (const scope of Object.values(TOOL_SCOPES)) expect(GUIDE).toContain(`\`${scope}\``);
    const { default: usual, max } = TIMEOUT_SECONDS;
    expect(GUIDE).toContain(`1 to ${max}, default ${usual}`);
    expect(GUIDE).toContain(`at most ${MANIFEST_MAX_TOOLS}, each`);
    expect(GUIDE).toContain(`At least ${PRICE_LAMPORTS.min.toLocaleString('en')};`);
    expect(GUIDE).toContain(`1 SOL is ${LAMPORTS_PER_SOL.toLocaleString('en')} lamports`);
  });
});
