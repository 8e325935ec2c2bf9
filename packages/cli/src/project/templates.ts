import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../errors.js';
import { PRACTICE_MODEL } from '../practice-model/serve-model.js';
import { PACKAGE_FOLDER } from '../own-package.js';

/** The templates of `init`. */
export const TEMPLATES = {
  prompt: 'a prompt that the marketplace runs',
  typescript: "an agent in TypeScript that runs on its creator's machine",
  langchain: 'an agent of LangChain',
  'ai-sdk': 'an agent of the AI SDK',
  python: "an agent in Python that runs on its creator's machine",
} as const;

/** Name of a template. */
export type Template = keyof typeof TEMPLATES;

/** Whether a name is a template's. */
export function isTemplate(name: string): name is Template {
  return Object.hasOwn(TEMPLATES, name);
}

const FOLDER = join(PACKAGE_FOLDER, 'templates');
/** npm does not pack a file named `.gitignore`. */
const RENAMED: Readonly<Record<string, string>> = { gitignore: '.gitignore' };

/**
 * Writes a template into a folder. The folder must not have any of its files.
 *
 * @returns the names of the files
 * @throws CommandError with the name of an existing file.
 */
export async function writeTemplate(
  template: Template,
  folder: string,
  name: string,
  {
    marketplace,
    variables,
  }: { marketplace: string; variables: Readonly<Record<string, string | undefined>> },
): Promise<string[]> {
  const sources = [...(await filesOf('shared')), ...(await filesOf(template))];
  const taken = sources.find(({ file }) => existsSync(join(folder, file)));
  if (taken) throw new CommandError(`${join(folder, taken.file)} is there already. Choose another folder.`);
  await mkdir(folder, { recursive: true });
  const values: Readonly<Record<string, string>> = {
    NAME: name,
    TITLE: titleOf(name),
    MARKETPLACE: marketplace,
    MODEL: JSON.stringify(modelFor(variables)),
    START: template === 'prompt' ? 'agent-rental model' : 'npm install\nnpm start',
  };
  for (const { path, file } of sources) {
    const text = await readFile(path, 'utf8');
    const filled = text.replaceAll(/"?\{\{(\w+)\}\}"?/g, (whole, key: string) => {
      const value = values[key] ?? whole;
      return key === 'MODEL' ? value : whole.replace(`{{${key}}}`, value);
    });
    await writeFile(join(folder, file), filled, { flag: 'wx' });
  }
  return sources.map(({ file }) => file);
}

async function filesOf(folder: string): Promise<{ path: string; file: string }[]> {
  const names = await readdir(join(FOLDER, folder));
  return names.map((name) => ({ path: join(FOLDER, folder, name), file: RENAMED[name] ?? name }));
}

/** The model whose key is in the environment, else the practice model, which needs no key. */
function modelFor(environment: Readonly<Record<string, string | undefined>>): object {
  if (environment['OPENAI_API_KEY']) return { provider: 'openai', model: 'gpt-4.1-mini' };
  if (environment['ANTHROPIC_API_KEY']) return { provider: 'anthropic', model: 'claude-sonnet-4-5' };
  return { provider: 'self_hosted', model: PRACTICE_MODEL, endpoint_url: 'http://127.0.0.1:8789/v1' };
}

/** `invoice-reader` becomes `Invoice reader`. */
function titleOf(name: string): string {
  const words = name.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
