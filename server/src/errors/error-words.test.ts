import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parseAst } from 'vitest/node';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Endpoints, methods and headers: a model has none of them. */
const HTTP_WORDS =
  /\/v1\/|\b(GET|POST|PUT|PATCH|DELETE)\b|\bheader\b|Authorization|Content-Type|Idempotency-Key|Prefer:|Retry-After|\bX-[A-Z]/;
/** What each reader is told in its own words. */
const NEXT_STEP = /nothing was (changed|charged)|try again|ask again|top it up|send it again/i;

/** A part of a program, as ESTree has it. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [member: string]: unknown;
}

interface Source {
  readonly name: string;
  readonly text: string;
  readonly program: Node;
}

function sources(): Source[] {
  return readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.test(-support)?\.ts$/.test(name))
    .map((name) => {
      const text = readFileSync(join(ROOT, name), 'utf8');
      return { name, text, program: parseAst(text, { lang: 'ts' }) as unknown as Node };
    });
}

function childrenOf(node: Node): Node[] {
  const isNode = (value: unknown): value is Node =>
    typeof value === 'object' && value !== null && 'type' in value;
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

/** Every piece of text below a node, and below the names of the same file that it uses. */
function textsOf(node: Node, { program }: Source, seen = new Set<Node>()): string[] {
  if (seen.has(node)) return [];
  seen.add(node);
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? [node['value']] : [];
  if (node.type === 'TemplateElement') return [(node['value'] as { raw: string }).raw];
  const named = node.type === 'Identifier' ? declarationOf(String(node['name']), program) : undefined;
  return (
    [...childrenOf(node), ...(named ? [named] : [])]
      // The next step of a caller over HTTP has a separate member.
      .filter(({ type, key }) => !(type === 'Property' && (key as Node)['name'] === 'next'))
      .flatMap((child) => textsOf(child, { program } as Source, seen))
  );
}

/** A constant or function of the file's top level. */
function declarationOf(name: string, program: Node): Node | undefined {
  const statements = (program['body'] as Node[]).map(
    (each) => (each['declaration'] as Node | null | undefined) ?? each,
  );
  const declared = statements.flatMap((each) =>
    each.type === 'VariableDeclaration' ? (each['declarations'] as Node[]) : [each],
  );
  const found = declared.find(({ id }) => (id as Node | undefined)?.['name'] === name);
  return found && ((found['init'] ?? found['body']) as Node | undefined);
}

function reasons(): { at: string; text: string }[] {
  const found: { at: string; text: string }[] = [];
  const visit = (node: Node, source: Source): void => {
    const callee = node.type === 'NewExpression' ? String((node['callee'] as Node)['name']) : '';
    const reason = callee.endsWith('ApiError') ? (node['arguments'] as Node[])[1] : undefined;
    if (reason) {
      const at = `${source.name}:${source.text.slice(0, node.start).split('\n').length}`;
      found.push(...textsOf(reason, source).map((text) => ({ at, text })));
    }
    for (const child of childrenOf(node)) visit(child, source);
  };
  for (const source of sources()) visit(source.program, source);
  return found;
}

it('an error’s message has no endpoints, headers and next steps, which are in `next` [ADP-15]', () => {
  const all = reasons();
  expect(all.length).toBeGreaterThan(100);
  expect(all.filter(({ text }) => HTTP_WORDS.test(text) || NEXT_STEP.test(text))).toEqual([]);
});
