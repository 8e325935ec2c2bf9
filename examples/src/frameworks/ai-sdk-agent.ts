/**
 * Serves an agent of the AI SDK as a connected agent.
 *
 *   MODEL_BASE_URL=http://127.0.0.1:11434/v1 MODEL_NAME=llama3 node examples/dist/frameworks/ai-sdk-agent.js
 */
import { aiSdkAgent, serveAgent } from '@agent-rental/sdk/creator';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ToolLoopAgent } from 'ai';
import { INSTRUCTIONS, modelOfEnvironment } from './model.js';

const { baseURL, name, apiKey } = modelOfEnvironment();
const model = createOpenAICompatible({ name: 'model', baseURL, apiKey })(name);
const { url } = await serveAgent(aiSdkAgent(new ToolLoopAgent({ model, instructions: INSTRUCTIONS })));
process.stdout.write(`The agent listens at ${url}\n`);
