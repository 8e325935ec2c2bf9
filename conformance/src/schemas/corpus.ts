import type { CorpusEntry } from './entry.js';
import { schemasFromZod } from './from-zod.js';
import { generatedSchemas } from './generated.js';
import { WRITTEN_BUSINESS } from './written-business.js';
import { WRITTEN_TECHNICAL } from './written-technical.js';

/** The number of schemas: written by hand, made by zod, and generated for the rest. */
export const CORPUS_SIZE = 200;

/** The corpus, the same on every machine. */
export function schemaCorpus(): CorpusEntry[] {
  const written = [...WRITTEN_BUSINESS, ...WRITTEN_TECHNICAL, ...schemasFromZod()];
  return [...written, ...generatedSchemas(CORPUS_SIZE - written.length)];
}
