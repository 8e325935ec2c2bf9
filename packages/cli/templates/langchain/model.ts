import { FakeListChatModel } from '@langchain/core/utils/testing';

/** OpenAI's model where there is a key; else one that always says the same, so that the agent runs at once. */
export const model = process.env.OPENAI_API_KEY
  ? 'openai:gpt-4.1-mini'
  : new FakeListChatModel({ responses: ['Practice model: set OPENAI_API_KEY for a real one.'] });
