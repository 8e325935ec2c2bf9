import { loadAiSdk7 } from '@agent-rental/stand-in/ai-sdk-7';
import { describe, expect, it, vi } from 'vitest';
import type { AiVersion } from './testing/calling-model.js';
import { rentedToolsSuite } from './testing/rented-tools-suite.js';

// The adapter imports `ai`: this mock gives it version 7, which npm installs.
vi.mock('ai', async (importOriginal) => {
  if (process.env['TEST_FORM'] === 'quick') return importOriginal<object>();
  const { loadAiSdk7: load } = await import('@agent-rental/stand-in/ai-sdk-7');
  return (await load()).ai as object;
});
globalThis.AI_SDK_LOG_WARNINGS = false;

const loaded = process.env['TEST_FORM'] === 'quick' ? undefined : await loadAiSdk7();

describe.runIf(loaded !== undefined)('rentedTools with version 7 of the AI SDK', () => {
  if (loaded === undefined) return;
  const version = { ai: loaded.ai, Model: loaded.testing['MockLanguageModelV4'] } as AiVersion;

  it('is given version 7 and its model', async () => {
    expect(Object.keys(await import('ai'))).toContain('isStepCount');
    expect(new version.Model().specificationVersion).toBe('v4');
  });

  rentedToolsSuite(version);
});
