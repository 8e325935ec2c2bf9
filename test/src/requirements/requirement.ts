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

/** All lines, and those that hold today though their test is still to come. */
export interface Manifest {
  readonly requirements: readonly Requirement[];
  /** Id to the subject whose tests are awaited. */
  readonly pending: ReadonlyMap<string, string>;
}

/** The folder of this repository's manifest. */
export const REQUIREMENTS_FOLDER = fileURLToPath(new URL('../../requirements/', import.meta.url));

const LINE = /^- `([A-Z]+-\d+)` (specification, [^;]+?|decision)(?:; later, (.+?))?: (.+)$/;
const PENDING_LINE = /^([A-Z]+-\d+) (.+)$/;

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
 * Reads a folder of requirements: lists in Markdown, and `pending.txt`.
 *
 * @throws Error for a line in another form, an id used twice, or a pending id that is not one of a line of today.
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.md') && name !== 'README.md').sort();
  const requirements: Requirement[] = [];
  const byId = new Map<string, Requirement>();
  for (const file of files) {
    for (const requirement of parseArea(file.slice(0, -3), await readFile(`${folder}/${file}`, 'utf8'))) {
      if (byId.has(requirement.id)) throw new Error(`${requirement.id} stands twice in the requirements.`);
      byId.set(requirement.id, requirement);
      requirements.push(requirement);
    }
  }
  const pending = new Map<string, string>();
  for (const line of (await readFile(`${folder}/pending.txt`, 'utf8')).split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, id, subject] = PENDING_LINE.exec(line) ?? [];
    if (!id || !subject) throw new Error(`pending.txt has a line in another form: ${line}`);
    const requirement = byId.get(id);
    if (!requirement || requirement.later)
      throw new Error(`pending.txt names ${id}, which is no line of today.`);
    pending.set(id, subject);
  }
  return { requirements, pending };
}

/** The ids that a title names, as in `a revoked key is refused [ID-7, ID-8]`. */
export function idsIn(title: string): string[] {
  return [...title.matchAll(/\[([A-Z]+-\d+(?:, ?[A-Z]+-\d+)*)\]/g)].flatMap(([, ids = '']) =>
    ids.split(/, ?/),
  );
}
