import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** One line of the manifest: a sentence about the service that a test can show. */
export interface Requirement {
  readonly id: string;
  /** The file that holds it, without its ending. */
  readonly area: string;
  /** The section of the specification that says it, or `decision` where the specification leaves it open. */
  readonly source: string;
  /** The subject that will bring it; absent where it holds today. */
  readonly later?: string;
  readonly text: string;
}

/** The folder of this repository's manifest. */
export const REQUIREMENTS_FOLDER = fileURLToPath(new URL('../../requirements/', import.meta.url));

const LINE = /^- `([A-Z]+-\d+)` (specification, [^;]+?|decision)(?:; later, (.+?))?: (.+)$/;

function parseArea(area: string, content: string): Requirement[] {
  return content
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .map((line) => {
      const [, id, source, later, text] = LINE.exec(line) ?? [];
      if (!id || !source || !text) throw new Error(`${area}.md has a line in another form: ${line}`);
      return { id, area, source, ...(later && { later }), text };
    });
}

/**
 * Reads a folder of requirements: lists in Markdown.
 *
 * @throws Error for a line in another form, or an id used twice.
 */
export async function readRequirements(folder: string): Promise<Requirement[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.md') && name !== 'README.md').sort();
  const requirements: Requirement[] = [];
  const ids = new Set<string>();
  for (const file of files) {
    for (const requirement of parseArea(file.slice(0, -3), await readFile(`${folder}/${file}`, 'utf8'))) {
      if (ids.has(requirement.id)) throw new Error(`${requirement.id} is twice in the requirements.`);
      ids.add(requirement.id);
      requirements.push(requirement);
    }
  }
  return requirements;
}

/** The ids that a title names, as in `a revoked key is refused [ID-5]`. */
export function idsIn(title: string): string[] {
  return [...title.matchAll(/\[([A-Z]+-\d+(?:, ?[A-Z]+-\d+)*)\]/g)].flatMap(([, ids = '']) =>
    ids.split(/, ?/),
  );
}
