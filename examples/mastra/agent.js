/**
 * Serves an agent of Mastra as a connected agent.
 *
 *   MODEL_BASE_URL=… MODEL_NAME=… node agent.js
 */
import { mastraAgent, serveAgent } from '@agent-rental/sdk/creator';
import { Agent } from '@mastra/core/agent';

const { MODEL_BASE_URL, MODEL_NAME, MODEL_API_KEY = 'none' } = process.env;
if (!MODEL_BASE_URL || !MODEL_NAME) throw new Error('Set MODEL_BASE_URL and MODEL_NAME.');
const agent = new Agent({
  id: 'plain-words',
  name: 'plain-words',
  instructions: 'Rewrite the text in plain words. Leave nothing out. Answer with the rewritten text alone.',
  model: { providerId: 'model', modelId: MODEL_NAME, url: MODEL_BASE_URL, apiKey: MODEL_API_KEY },
  maxRetries: 0,
});
const { url } = await serveAgent(mastraAgent(agent));
process.stdout.write(`The agent listens at ${url}\n`);
