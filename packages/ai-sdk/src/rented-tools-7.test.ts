import * as ai from 'ai-7';
import { MockLanguageModelV4 } from 'ai-7/test';
import { describe, expect, it, vi } from 'vitest';
import type { AiVersion } from './testing/calling-model.js';
import { rentedToolsSuite } from './testing/rented-tools-suite.js';

// The adapter imports `ai`: here it gets version 7, as it does where that is installed.
vi.mock('ai', async () => import('ai-7'));
globalThis.AI_SDK_LOG_WARNINGS = false;

const version = { ai, Model: MockLanguageModelV4 } as unknown as AiVersion;

describe('rentedTools with version 7 of the AI SDK', () => {
  it('is given version 7 and its model', async () => {
    expect(Object.keys(await import('ai'))).toContain('isStepCount');
    expect(new version.Model().specificationVersion).toBe('v4');
  });

  rentedToolsSuite(version);
});
