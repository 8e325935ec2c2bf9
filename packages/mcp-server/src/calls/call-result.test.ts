import { describe, expect, it } from 'vitest';
import { toCallResult } from './call-result.js';

const PICTURE = `data:image/png;base64,${Buffer.from('\u0089PNG').toString('base64')}`;

describe('a result that is cut for its length', () => {
  const facts = { status: 'completed', runId: 'run_1', nextOffset: 5, note: 'Charged.' } as const;

  it('has a link to the whole, which does not come back beside it', () => {
    const result = toCallResult({ ...facts, text: '{"tex', structured: { text: 'x'.repeat(50_000) } });
    expect(result).not.toHaveProperty('structuredContent');
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'text']);
  });

  it('comes whole if only its files make it long, and is cut otherwise', () => {
    const long = { picture: PICTURE, text: 'x'.repeat(50_000) };
    const cut = toCallResult({ ...facts, text: '{"pic', structured: long });
    expect(cut.content[0]).toEqual({ type: 'text', text: '{"pic' });
    expect(cut).not.toHaveProperty('structuredContent');
    const short = toCallResult({ ...facts, text: '{"pic', structured: { picture: PICTURE, text: 'x' } });
    expect(short.structuredContent).toMatchObject({ output: { text: 'x' } });
    expect(short.content.map(({ type }) => type)).toEqual(['text', 'image', 'text']);
  });
});

it('takes twenty files out of an output, and leaves the others in place', () => {
  const pictures = Array.from({ length: 21 }, () => PICTURE);
  const result = toCallResult({
    status: 'completed',
    runId: 'run_1',
    note: 'Charged.',
    text: JSON.stringify({ pictures }),
    structured: { pictures },
  });
  expect(result.content.filter(({ type }) => type === 'image')).toHaveLength(20);
  const { output: left } = result.structuredContent as { output: { pictures: string[] } };
  expect(left.pictures.filter((picture) => picture === PICTURE)).toHaveLength(1);
  expect(left.pictures[20]).toBe(PICTURE);
});

it('tells a host that shows structured content alone of the run, beside the output [ADP-15]', () => {
  const facts = { status: 'completed', text: '{"a":1}', structured: { a: 1 } } as const;
  const note = '[agent-rental] Charged 5 lamports.';
  const paid = toCallResult({ ...facts, runId: 'run_1', costLamports: 5, note });
  expect(paid.structuredContent).toEqual({
    output: { a: 1 },
    run: { run_id: 'run_1', cost_lamports: 5, charged: true, note },
  });
  expect(paid.content[0]).toEqual({ type: 'text', text: '{"a":1}' });
  const joined = toCallResult({ ...facts, runId: 'run_1', costLamports: 0, note });
  expect(joined.structuredContent).toMatchObject({ run: { cost_lamports: 0, charged: false } });
  // Content that is not a run's output does not change.
  expect(toCallResult(facts).structuredContent).toEqual({ a: 1 });
});
