/**
 * Serves a graph of LangGraph as a connected agent.
 *
 *   MODEL_BASE_URL=http://127.0.0.1:11434/v1 MODEL_NAME=llama3 node examples/dist/frameworks/langgraph-agent.js
 */
import { langChainAgent, serveAgent } from '@agent-rental/sdk/creator';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { INSTRUCTIONS, modelOfEnvironment } from './model.js';

const { baseURL, name, apiKey } = modelOfEnvironment();
const model = new ChatOpenAI({ model: name, apiKey, maxRetries: 0, configuration: { baseURL } });
const graph = new StateGraph(MessagesAnnotation)
  .addNode('rewrite', async ({ messages }, config) => ({
    messages: [await model.invoke([{ role: 'system', content: INSTRUCTIONS }, ...messages], config)],
  }))
  .addEdge(START, 'rewrite')
  .addEdge('rewrite', END)
  .compile();
const { url } = await serveAgent(langChainAgent(graph));
process.stdout.write(`The agent listens at ${url}\n`);
