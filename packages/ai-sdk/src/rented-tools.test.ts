import * as ai from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { describe } from 'vitest';
import { rentedToolsSuite } from './testing/rented-tools-suite.js';

globalThis.AI_SDK_LOG_WARNINGS = false;

describe('rentedTools with version 6 of the AI SDK', () => {
  rentedToolsSuite({ ai, Model: MockLanguageModelV3 });
});
