import { openai } from '@ai-sdk/openai';
import { simulateReadableStream } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';

/** A model with one fixed answer, so that the agent works without a key. */
function practiceModel() {
  const usage = {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  };
  return new MockLanguageModelV3({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: 'Practice model: set OPENAI_API_KEY for a real one.' },
          { type: 'text-end', id: '1' },
          { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
        ],
      }),
    }),
  });
}

/** OpenAI's model if there is a key, else the practice model. */
export const model = process.env.OPENAI_API_KEY ? openai('gpt-4.1-mini') : practiceModel();
