/**
 * Gives rented agents to a LangChain agent as tools. The model is LangChain's fake one, so that the app runs
 * without a key: it calls one rented agent and says that it is done. Put any chat model in its place.
 *
 *   node examples/dist/apps/langchain-app.js
 */
import { readFile } from 'node:fs/promises';
import { rentedTools } from '@agent-rental/langchain';
import { createClient } from '@agent-rental/sdk';
import { AIMessage, createAgent, fakeModel, ToolMessage } from 'langchain';
import { print, readDevState, sampleRequest } from './dev-state.js';

const state = await readDevState();
const apiKey = (await readFile(state.api_key_file, 'utf8')).trim();
const tools = await rentedTools(createClient({ baseUrl: state.base_url, apiKey }));
print(`Tools: ${tools.map((tool) => tool.name).join(', ')}`);

const request = await sampleRequest(state, 'contract-dates');
const model = fakeModel()
  .respondWithTools([{ name: request.agent_id.replaceAll('-', '_'), args: request, id: 'call_1' }])
  .respond(new AIMessage('The contract is read.'));

const agent = createAgent({ model, tools });
const { messages } = await agent.invoke({
  messages: [{ role: 'user', content: 'List the duties of this contract, with their parties and dates.' }],
});

const result = messages.find((message) => ToolMessage.isInstance(message));
print(result?.text ?? 'The tool was not called.');
print(messages.at(-1)?.text ?? '');
if (result === undefined || result.status === 'error') process.exitCode = 1;
