import { TOOL_WAIT_SECONDS, type RentedTool, type ToolPage } from '@agent-rental/tools';
import {
  type Server,
  type CallToolResult,
  type RequestStateCodec,
  type Tool,
} from '@modelcontextprotocol/server';
import { randomBytes } from 'node:crypto';
import type { AskedState } from './calls/approvals.js';
import {
  declaresApps,
  isViewUri,
  readView,
  RECEIPT_TOOL,
  SHOW_RECEIPT,
  showReceipt,
  withApproval,
  withView,
} from './apps/apps.js';
import { createCallTool } from './calls/call-tool.js';
import { markIcons } from './content/icons.js';
import { SERVER_INSTRUCTIONS } from './content/instructions.js';
import { runsAgents, toMcpTool } from './calls/mcp-tool.js';
import { nextAfter, pageOf, startOf } from './content/pages.js';
import { watchList } from './content/list-watch.js';
import { getPrompt, PROMPTS } from './content/prompts.js';
import { listResources, readResource, RESOURCE_TEMPLATES } from './content/resources.js';
import type { RentalHandlers, RentalServerOptions } from './rental-server-options.js';
import { createAskedStateCodec } from './sessions/asked-state-codec.js';
import { createTokenSigner, type CarriedSecret } from './sessions/signed-token.js';
import { isSkillUri, readSkill, serveSkills, SKILLS_EXTENSION } from './content/skills.js';
import { AskingTasks } from './tasks/asking-tasks.js';
import { TaskIds } from './tasks/task-ids.js';
import { TaskServer } from './tasks/task-server.js';
import { Tasks } from './tasks/tasks.js';
import { requireTasks, taskParams, TASKS_EXTENSION } from './tasks/wire.js';
import { VERSION } from './own-package.js';

/** Default page size of a list. By default one page has the whole list, for clients that do not page. */
const PAGE_SIZE = 50;
/** Longest wait for a run: clients give up after 60 s. */
const PATIENCE_MS = TOOL_WAIT_SECONDS * 1_000;
/** Poll interval for changes of the list of tools, for clients that can get a notification. */
const WATCH_MS = 60_000;
/** Wait for a run of a client with tasks: refusals and quick runs need no task. */
const TASK_WAIT_MS = 500;

/**
 * An MCP server over one caller's tools, for one connection or one request. It serves all protocol eras of the SDK. It uses
 * the SDK's low-level server, because the tools bring their schemas, and the high-level server has no pages.
 */
export function createRentalServer(options: RentalServerOptions): Server {
  const { secret = randomBytes(32) } = options;
  const codec = createAskedStateCodec(secret);
  const hasTasks = options.era !== 'legacy';
  // Over HTTP the server keeps no session: a client hears of changes on a stream of subscriptions/listen alone.
  const isListenedTo = options.call !== undefined && options.era === 'modern';
  const canNotify = options.call === undefined || isListenedTo;
  const server = new TaskServer(
    {
      name: 'agent-rental',
      title: 'Agent rental marketplace',
      version: VERSION,
      icons: markIcons(options.publicUrl ?? options.client.baseUrl),
    },
    {
      capabilities: {
        tools: canNotify ? { listChanged: true } : {},
        resources: isListenedTo ? { listChanged: true, subscribe: true } : {},
        prompts: {},
        extensions: { ...(hasTasks ? { [TASKS_EXTENSION]: {} } : {}), [SKILLS_EXTENSION]: {} },
      },
      instructions: SERVER_INSTRUCTIONS,
      requestState: { verify: codec.verify },
    },
  );
  const tasks = createTasks(options, secret, server);
  const handlers: RentalHandlers = {
    ...toolHandlers(options, server, codec, hasTasks ? tasks : undefined),
    ...resourceHandlers(options),
    getTask: ({ taskId }, context) => tasks.get(taskId, context),
    updateTask: ({ taskId, inputResponses }, context) => tasks.update(taskId, inputResponses, context),
    cancelTask: ({ taskId }) => tasks.cancel(taskId),
  };
  server.setRequestHandler('tools/list', (request, context) => handlers.listTools(request.params, context));
  // The SDK does not know tasks as answers, and passes them on unchanged.
  server.setRequestHandler(
    'tools/call',
    (request, context) => handlers.callTool(request.params, context) as Promise<CallToolResult>,
  );
  if (hasTasks) serveTasks(server, handlers);

  server.setRequestHandler('resources/list', (request, context) =>
    handlers.listResources(request.params, context),
  );
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  server.setRequestHandler('resources/read', (request, context) =>
    handlers.readResource(request.params, context),
  );

  serveSkills(server, options.client);

  server.setRequestHandler('prompts/list', () => ({ prompts: [...PROMPTS] }));
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(params.name, params.arguments));
  options.extend?.(server, handlers);
  return server;
}

/** Answers the methods of the Tasks extension, for requests that declare it. */
export function serveTasks(
  server: Server,
  { getTask, updateTask, cancelTask }: Pick<RentalHandlers, 'getTask' | 'updateTask' | 'cancelTask'>,
): void {
  server.setRequestHandler('tasks/get', { params: taskParams }, (params, context) => {
    requireTasks(context);
    return getTask(params, context);
  });
  server.setRequestHandler('tasks/update', { params: taskParams }, (params, context) => {
    requireTasks(context);
    return updateTask({ ...params, inputResponses: context.mcpReq.inputResponses ?? {} }, context);
  });
  server.setRequestHandler('tasks/cancel', { params: taskParams }, (params, context) => {
    requireTasks(context);
    return cancelTask(params, context);
  });
}

function createTasks(
  { toolset, client, call, callerId = '', taskWaitMs: waitMs = TASK_WAIT_MS }: RentalServerOptions,
  secret: CarriedSecret,
  server: Server,
): Tasks {
  const asking = call === undefined ? new AskingTasks() : undefined;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other
  if (asking !== undefined) server.onclose = () => asking.cancelAll();
  return new Tasks({
    ids: new TaskIds(createTokenSigner(secret), callerId),
    client,
    toolset,
    asking,
    waitMs,
  });
}

function resourceHandlers({
  client,
  toolset,
  publicUrl = client.baseUrl,
  pageSize = PAGE_SIZE,
}: RentalServerOptions): Pick<RentalHandlers, 'listResources' | 'readResource'> {
  return {
    async listResources(params, context) {
      const { start } = startOf('resources', params?.cursor);
      const resources = await listResources(client, publicUrl, context.mcpReq.signal);
      const { items, ...next } = pageOf('resources', resources, start, pageSize);
      return { resources: [...items], ...next };
    },
    readResource: async ({ uri }, { mcpReq: { signal } }) => {
      if (isViewUri(uri)) return readView(uri);
      return isSkillUri(uri)
        ? readSkill(client, uri, signal)
        : readResource({ client, toolset }, uri, signal);
    },
  };
}

function toolHandlers(
  options: RentalServerOptions,
  server: Server,
  codec: RequestStateCodec<AskedState>,
  tasks: Tasks | undefined,
): Pick<RentalHandlers, 'listTools' | 'callTool'> {
  const { toolset, client, publicUrl = client.baseUrl, inputFolder } = options;
  const { onError, pageSize = PAGE_SIZE, patienceMs = PATIENCE_MS, call } = options;
  const watch = watchList({
    toolset,
    everyMs: options.watchMs ?? WATCH_MS,
    onChange: () => void server.sendToolListChanged().catch((error: unknown) => onError?.(error)),
  });
  const partOf = (tools: readonly RentedTool[], start: number): ToolPage => ({
    tools: tools.slice(start, start + pageSize),
    total: tools.length,
  });
  const lookAt = async (
    start: number,
    place: string | undefined,
    given: { signal: AbortSignal },
  ): Promise<ToolPage> => {
    // Over HTTP each page has a separate server, without the earlier pages.
    if (call !== undefined) return toolset.page(start, pageSize, given, place);
    // The first page reads the list again; later pages use the same list.
    const tools = await (start === 0 ? toolset.refresh(given) : toolset.list(given));
    if (start === 0) watch.given(tools);
    return partOf(tools, start);
  };
  const callTool = createCallTool({ options: { ...options, patienceMs }, server, codec, tasks });
  return {
    async listTools(params, context) {
      const { signal } = context.mcpReq;
      const hasViews = declaresApps(server, context);
      const { start, place } = startOf('tools', params?.cursor);
      const page = await lookAt(start, place, { signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        // An unreachable marketplace must not end the client's session. A call of a fixed tool reports the fault.
        onError?.(error);
        return partOf(toolset.alwaysThere, start);
      });
      const next = nextAfter('tools', start + pageSize, page.total, page.next);
      const tools = page.tools.map((tool) => toMcpTool(tool, { publicUrl, inputFolder }));
      if (!hasViews) return { tools, ...next };
      const viewed = page.tools.map((tool, index) => withView(tools[index] as Tool, runsAgents(tool)));
      return { tools: start === 0 ? [RECEIPT_TOOL, ...viewed] : viewed, ...next };
    },

    async callTool(params, context) {
      const hasViews = declaresApps(server, context);
      const { signal } = context.mcpReq;
      if (hasViews && params.name === SHOW_RECEIPT)
        return showReceipt(options.client, params.arguments, signal);
      const result = await callTool(params, context);
      return hasViews ? withApproval(options.client, result, signal) : result;
    },
  };
}
