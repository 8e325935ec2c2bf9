import { langChainAgent, serveAgent } from '@agent-rental/sdk/creator';
import { createAgent } from 'langchain';
import { model } from './model.js';

const agent = createAgent({
  model,
  tools: [],
  systemPrompt: 'Rewrite the text in plain words. Leave nothing out. Answer with the rewritten text alone.',
});
const { url } = await serveAgent({ run: langChainAgent(agent) });
console.log(`The agent listens at ${url}`);
