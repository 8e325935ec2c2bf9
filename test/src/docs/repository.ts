import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's folder. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Text of a file, by its path from the repository's folder. */
export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Whether a path from the repository's folder exists. */
export function pathExists(path: string): boolean {
  return existsSync(join(ROOT, path));
}

/** Names in a folder. */
export function namesIn(path: string, kind: 'file' | 'folder'): string[] {
  return readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter((entry) => (kind === 'folder' ? entry.isDirectory() : entry.isFile()))
    .map(({ name }) => name)
    .toSorted();
}

/** Markdown documents that contributors and users read, by their paths from the repository's folder. */
export function documents(): string[] {
  const below = (folder: string): string[] => [
    ...namesIn(folder, 'file')
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
    ...namesIn(folder, 'folder').flatMap((name) => below(join(folder, name))),
  ];
  const packages = namesIn('packages', 'folder')
    .map((name) => `packages/${name}/README.md`)
    .filter(pathExists);
  return [
    ...namesIn('.', 'file').filter((name) => name.endsWith('.md')),
    ...below('docs'),
    ...below('test/requirements'),
    'examples/README.md',
    ...packages,
  ];
}

/** Rows of the first table under a heading, as trimmed cells, without its head. */
export function tableUnder(text: string, heading: string): string[][] {
  const section = text.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`There is no heading "${heading}".`);
  const lines = section.split('\n');
  const start = lines.findIndex((line) => line.startsWith('|'));
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  return lines.slice(start + 2, start + length).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}

/** The texts in backquotes. */
export function codeSpans(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code ?? '');
}

/** A path from the repository's folder, as documents name it. */
export const REPOSITORY_PATH =
  /^(?:packages|server|programs|docs|test|benchmarks|fuzz|conformance|resilience|scripts|examples|\.ci)\/[\w./-]*\w$/;

/** Relative links of a document: their targets from the repository's folder, and their anchors. */
export function linksOf(path: string): { target: string; anchor: string | undefined }[] {
  const text = readText(path).replaceAll(/^```.*?^```/gms, '');
  return [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(
    ([, file, anchor]) => ({
      target: file ? relative(ROOT, join(ROOT, dirname(path), file)) : path,
      anchor,
    }),
  );
}

/** Anchors that GitHub gives to the headings of a document. */
export function anchorsOf(path: string): Set<string> {
  const headings = [...readText(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading ?? '');
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
