import { aiSdkAgent, serveAgent } from '@agent-rental/sdk/creator';
import { ToolLoopAgent } from 'ai';
import { model } from './model.js';

const agent = new ToolLoopAgent({
  model,
  instructions: 'Rewrite the text in plain words. Leave nothing out. Answer with the rewritten text alone.',
});
const { url } = await serveAgent({ run: aiSdkAgent(agent) });
console.log(`The agent listens at ${url}`);
