import { it } from 'vitest';
import { schemaViolations, checkSchema } from './platform/json-schema.js';
it('x', async () => {
  const t = async (n: string, f: () => unknown) => {
    const s = performance.now();
    try {
      const r = f();
      console.log(n, JSON.stringify(r)?.slice(0, 200), Math.round(performance.now() - s));
    } catch (e) {
      console.log(n, 'ERR', String(e).slice(0, 200), Math.round(performance.now() - s));
    }
  };
  await t('async', () => {
    const r = (schemaViolations as any)({ $async: true, type: 'string' }, 5);
    return r;
  });
  await t('re nested', () => checkSchema({ pattern: '((a{100}){100}){10}' }));
  await t('re nested2', () => checkSchema({ pattern: '(((a{100}){100}){100}){100}' }));
  await t('re long', () => schemaViolations({ pattern: '(x+x+)+y' }, 'x'.repeat(100_000)));
  await t('re 900', () => schemaViolations({ pattern: '(a?){900}b' }, 'a'.repeat(100_000)));
  await t('uniq', () =>
    schemaViolations(
      { uniqueItems: true },
      Array.from({ length: 20_000 }, (_, i) => ({ a: i })),
    ),
  );
  const defs: any = {};
  for (let i = 0; i < 18; i++)
    defs['d' + i] = { anyOf: [{ $ref: '#/$defs/d' + (i + 1) }, { $ref: '#/$defs/d' + (i + 1) }] };
  defs.d18 = { type: 'string', minLength: 3 };
  await t('bomb', () => schemaViolations({ $defs: defs, $ref: '#/$defs/d0' }, 5));
  let deep: any = 0;
  for (let i = 0; i < 20000; i++) deep = [deep];
  await t('deep', () => schemaViolations({ type: 'array', items: { $ref: '#' } }, deep).length);
  await t('selfref', () => schemaViolations({ $ref: '#' }, 1).length);
  await t('allself', () => schemaViolations({ allOf: [{ $ref: '#' }] }, 1).length);
  await t('missing def', () => checkSchema({ $ref: '#/$defs/none' }));
  await t('proto', () =>
    schemaViolations(
      JSON.parse(
        '{"type":"object","required":["__proto__"],"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
      ),
      JSON.parse('{"a":1}'),
    ),
  );
  await t('email', () => schemaViolations({ format: 'email' }, 'a'.repeat(100000) + '@'));
  for (const f of [
    'uri',
    'uri-reference',
    'uri-template',
    'hostname',
    'ipv6',
    'json-pointer',
    'iso-date-time',
    'url',
    'byte',
    'date-time',
    'duration',
    'uuid',
    'regex',
  ])
    for (const s of ['a', '/', '%41', ':', '.', '{a}', '-', '1', 'a.', 'a-', 'http://a', 'a@']) {
      const s0 = performance.now();
      try {
        schemaViolations({ format: f }, s.repeat(20000) + '\u0000');
      } catch (e) {
        console.log(f, s, 'ERR', String(e).slice(0, 100));
      }
      const d = performance.now() - s0;
      if (d > 50) console.log('SLOW', f, s, d);
    }
}, 120000);
it('inline', () => {
  const big: any = { properties: {} };
  for (let i = 0; i < 900; i++) big.properties['p' + i] = { type: 'string', minLength: i };
  const s: any = { $defs: { a: big }, items: { allOf: [] } };
  for (let i = 0; i < 1000; i++) s.items.allOf.push({ $ref: '#/$defs/a' });
  console.log(JSON.stringify(s).length);
  const t = performance.now();
  try {
    checkSchema(s);
  } catch (e) {
    console.log(String(e));
  }
  console.log('inline ms', performance.now() - t);
});
