import { describe, expect, it } from 'vitest';
import { reviewSource, separate } from './program.js';

const rules = (filename: string, source: string) =>
  reviewSource({ filename, source }).findings.map(({ rule, line }) => `${rule}:${line}`);
const js = (source: string) => rules('a.js', source);
const py = (source: string) => rules('a.py', source);
const repeat = (count: number, line: string) => `${line}\n`.repeat(count);

describe('separate', () => {
  const parts = (source: string, language = 'javascript') => separate(source, language);

  it('keeps lines and columns', () => {
    const source = 'a = "x\\"y"; // c\n/* d\n e */ f(`g${h("}")}i`);\n';
    const { code, comments } = parts(source);
    expect(code).toHaveLength(source.length);
    expect(comments).toHaveLength(source.length);
    expect(code.split('\n')).toHaveLength(4);
    expect(code).toContain('h("');
    expect(code).not.toMatch(/[cdegi]/);
    expect(comments.replace(/\s+/g, ' ').trim()).toBe('// c /* d e */');
  });

  it('tells a regular expression from a division', () => {
    expect(parts(`a = /["'/]/g; b = c / d; e = "x" / 2`).code.replace(/ +/g, ' ')).toBe(
      'a = " ; b = c / d; e = " / 2',
    );
  });

  it('knows nested templates', () => {
    expect(parts('`a${`b${c}d`}e` + f').code.replace(/[^cf]/g, '')).toBe('cf');
  });

  it('reads Python strings and comments', () => {
    const { code, comments } = separate(`x = """a # b\n'c'"""  # d\ny = 'e#'`, 'python');
    expect(code.replace(/[\s"]/g, '')).toBe('x=y=');
    expect(comments.trim()).toBe('# d');
  });

  it('reads lifetimes and characters', () => {
    expect(separate(`fn f<'a>(x: &'a str) { '"' }`, 'rust').code).toContain(`&'a str) { "`);
  });

  it.each(['"', "'", '`', '/*', '`${', '`${`', '"""', '\\', '/', "'\\"])('survives an open %s', (source) => {
    for (const language of ['javascript', 'python', 'rust', 'go', 'unknown']) {
      expect(separate(source, language).code).toHaveLength(source.length);
    }
  });
});

describe('reviewSource', () => {
  it.each([
    ['x == 1', 'eqeqeq'],
    ['x != y', 'eqeqeq'],
    ['eval(x)', 'no-eval'],
    ['new Function("x")', 'no-eval'],
    ['setTimeout("x()", 5)', 'no-implied-eval'],
    ['debugger', 'no-debugger'],
    ['el.innerHTML = x', 'no-raw-html'],
    ['console.log(x)', 'no-console'],
    ['var x', 'no-var'],
    ['// TODO later', 'todo'],
    ['try { f() } catch (e) { }', 'no-empty-catch'],
    ["q('SELECT a FROM b WHERE c=' + d)", 'sql-concatenation'],
    [`q("SELECT a FROM b WHERE c='" + d)`, 'sql-concatenation'],
    ['q(`DELETE FROM b WHERE c=${d}`)', 'sql-concatenation'],
    ["createHash('md5')", 'weak-hash'],
    ['<<<<<<< HEAD', 'merge-conflict'],
    ['const password = "hunter2hunter2"', 'secret'],
    [`k = 'AKIA${'Q'.repeat(16)}'`, 'secret'],
    ['f(]', 'unbalanced'],
    ['if (a) {', 'unbalanced'],
  ])('finds in %s: %s', (source, rule) => expect(js(source)).toEqual([`${rule}:1`]));

  it.each([
    'x === 1 && y !== 2 && z == null',
    'a >= b; c <= d; (e) => f',
    's = "x == 1; eval(y); debugger; TODO"',
    '// eval(x) == console.log(y)',
    'const token = process.env.TOKEN',
    'const password = "<your password>"',
    'catch_all({}); obj = { catch: {} }',
    "q('SELECT a FROM b WHERE c = ?', [d])",
    'retrieval(x); medieval (y)',
  ])('finds nothing in %s', (source) => expect(js(source)).toEqual([]));

  it.each([
    ['eval(x)', ['no-eval:1']],
    ['model.eval()', []],
    ['try:\n    f()\nexcept:\n    pass', ['bare-except:3']],
    ['if x == None:\n    pass', ['none-comparison:1']],
    ['def f(a, b=[]):\n    pass', ['mutable-default:1']],
    ['run(c, shell=True)', ['no-shell:1']],
    ['from os import *', ['star-import:1']],
    ['q("DELETE FROM a WHERE b=%s" % c)', ['sql-concatenation:1']],
    ['q(f"UPDATE a SET b={c}")', ['sql-concatenation:1']],
    ['q("UPDATE a SET b=?", c)', []],
    ['if a:\n    b\n\tc', ['mixed-indentation:3']],
    ['# FIXME now', ['todo:1']],
  ])('finds in Python %j: %j', (source, expected) => expect(py(source)).toEqual(expected));

  it('measures functions of languages with braces', () => {
    expect(js(`const a = () => {\n${repeat(60, 'f();')}}`)).toEqual(['max-lines-per-function:1']);
    expect(js(`x;\nfunction a(b) {\n${repeat(58, 'f();')}}`)).toEqual([]);
    expect(js(`class A {\n${repeat(80, 'b;')}}`)).toEqual([]);
    expect(rules('a.ts', `function a(): Map<string, number> {\n${repeat(60, 'f();')}}`)).toEqual([
      'max-lines-per-function:1',
    ]);
    expect(rules('a.go', `func a(b int) (int, error) {\n${repeat(60, 'f()')}}`)).toEqual([
      'max-lines-per-function:1',
    ]);
  });

  it('measures nesting of control flow and not of functions or objects', () => {
    const nested = (depth: number) => 'if (a) {\n'.repeat(depth) + '}\n'.repeat(depth);
    expect(js(nested(4))).toEqual([]);
    expect(js(nested(7))).toEqual(['max-depth:5']);
    expect(js('f({ a: { b: { c: { d: { e: 1 } } } } });')).toEqual([]);
    expect(js(`if (a) {\n if (b) {\n c(() => {\n${nested(4)}});\n }\n}`)).toEqual([]);
  });

  it('measures functions and nesting of Python', () => {
    expect(py(`def a():\n${repeat(60, '    f()')}`)).toEqual(['max-lines-per-function:1']);
    expect(py(`def a(\n  b,\nc):\n    f(\n1)\n`)).toEqual([]);
    const nested = [0, 1, 2, 3, 4, 5].map((depth) => `${'    '.repeat(depth)}if a:`).join('\n');
    expect(py(`${nested}\n${'    '.repeat(6)}b`)).toEqual(['max-depth:5']);
  });

  it('never repeats a secret', () => {
    const answer = JSON.stringify(reviewSource({ filename: 'a.js', source: "apiKey: 's3cr3tvalue99'" }));
    expect(answer).toContain('"secret"');
    expect(answer).not.toContain('s3cr3tvalue99');
  });

  it('counts lines whatever ends them', () => {
    expect(js('a\r\nb == 1\r\n')).toEqual(['eqeqeq:2']);
    expect(js('a\rb == 1\r')).toEqual(['eqeqeq:2']);
    expect(reviewSource({ filename: 'a.js', source: 'a\nb' }).lines).toBe(2);
    expect(reviewSource({ filename: 'a.js', source: '' })).toMatchObject({
      ok: true,
      lines: 0,
      findings: [],
    });
  });

  it('applies general rules to a language that it does not know', () => {
    const review = reviewSource({ filename: 'README', source: `TODO\n${'ü'.repeat(200)}` });
    expect(review.findings.map(({ rule }) => rule)).toEqual(['todo', 'max-len']);
    expect(review.summary).toContain('language is unknown');
  });

  it('tells the serious findings when there are too many', () => {
    const review = reviewSource({ filename: 'a.js', source: repeat(300, 'var x') + 'eval(y)' });
    expect(review.findings).toHaveLength(200);
    expect(review.findings_omitted).toBe(101);
    expect(review.findings.at(-1)).toMatchObject({ rule: 'no-eval', line: 301 });
  });
});
