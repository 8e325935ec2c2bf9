import { FakeListChatModel } from '@langchain/core/utils/testing';

/** OpenAI's model if there is a key, else a model with one fixed answer, so that the agent works without a key. */
export const model = process.env.OPENAI_API_KEY
  ? 'openai:gpt-4.1-mini'
  : new FakeListChatModel({ responses: ['Practice model: set OPENAI_API_KEY for a real one.'] });
