import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { npmTool } from './npm-tool.js';

const VERSION = '7.0.173';

/** Version 7 of the AI SDK. Its types belong to another package, so a test casts the values. */
export interface AiSdk7 {
  /** Its folder, with a `package.json`. */
  readonly folder: string;
  readonly ai: unknown;
  /** What `ai/test` exports. */
  readonly testing: Record<string, unknown>;
}

/**
 * Installs and loads version 7 of the AI SDK. No dependency: npm would warn of it on Node 20, since it asks for Node 22.
 *
 * @throws Error when npm cannot install it
 */
export async function loadAiSdk7(): Promise<AiSdk7> {
  const folder = dirname(await npmTool('ai', VERSION, 'package.json', ['zod@4.6.7']));
  const load = (path: string) => import(pathToFileURL(`${folder}/${path}`).href) as Promise<object>;
  const [ai, testing] = await Promise.all([load('dist/index.js'), load('dist/test/index.js')]);
  return { folder, ai, testing: testing as Record<string, unknown> };
}
