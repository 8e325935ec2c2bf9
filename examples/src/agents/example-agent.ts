import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Json, ListingTerms, Manifest } from '@agent-rental/contract';

/** A manifest as its author writes it; fields with a default are optional. */
export type ManifestDraft = Omit<Manifest, 'timeout_seconds'> & { timeout_seconds?: number };

/** What every example agent says of itself. */
interface ExampleAgentBase {
  /** Kebab-case; the listing's id begins with it. */
  readonly name: string;
  readonly terms: ListingTerms;
  /** A task to try it with. */
  readonly sampleTask: string;
  /** Files of `examples/inputs/` that the sample input is made of. */
  readonly inputFiles: readonly [string, ...string[]];
  /** Makes an input from the text of files, given in the order of `inputFiles`. */
  inputFrom(files: { name: string; text: string }[]): Json;
  /** Does the agent's work in this process: for the listing's sample output, and for tests. */
  answer(input: Json): object;
}

/** An agent that the marketplace runs in its sandbox. */
export interface DeclarativeExample extends ExampleAgentBase {
  readonly mode: 'declarative';
  manifest(model: Manifest['model']): ManifestDraft;
}

/** An agent that its creator hosts. */
export interface ConnectedExample extends ExampleAgentBase {
  readonly mode: 'connected';
  manifest(entrypointUrl: string): ManifestDraft;
}

export type ExampleAgent = DeclarativeExample | ConnectedExample;

/** Absolute path of a file in `examples/inputs/`. */
export function inputPath(file: string): string {
  return fileURLToPath(new URL(`../../inputs/${file}`, import.meta.url));
}

/** The sample input of an agent, from the files in the repository. */
export async function sampleInput(agent: ExampleAgent): Promise<Json> {
  const files = agent.inputFiles.map(async (name) => ({
    name,
    text: await readFile(inputPath(name), 'utf8'),
  }));
  return agent.inputFrom(await Promise.all(files));
}
