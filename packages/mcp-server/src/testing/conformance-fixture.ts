/**
 * The server of the protocol's conformance suite, served by the adapter. Its tools are rented agents, if an agent can do their
 * work. A few other tools do work that no rented agent does, such as a question to the client's model. Names and texts are
 * the suite's.
 */
import { answeringAgent, type StandInAgent, type StandInListing } from '@agent-rental/stand-in';
import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  type CallToolResult,
  type GetPromptResult,
  type InputRequiredResult,
  type Prompt,
  type Resource,
  type Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { setTimeout as pause } from 'node:timers/promises';
import { serveTasks } from '../rental-server.js';
import type { RentalHandlers } from '../rental-server-options.js';
import { declaresTasks, requireTasks } from '../tasks/wire.js';
import { ASKING_TOOLS, createFixtureTasks } from './conformance-tasks.js';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const IMAGE = `data:image/png;base64,${PNG}`;
const embedded = (mediaType: string, text: string) =>
  `data:${mediaType};base64,${Buffer.from(text).toString('base64')}`;

/** The rented agents, by the suite's names of their tools. */
const PLAIN_AGENTS: Record<string, StandInAgent> = {
  test_simple_text: answeringAgent('This is a simple text response for testing.'),
  test_image_content: answeringAgent(IMAGE),
  test_audio_content: answeringAgent(`data:audio/wav;base64,${WAV}`),
  test_embedded_resource: answeringAgent(embedded('text/plain', 'This is an embedded resource content.')),
  test_multiple_content_types: answeringAgent({
    text: 'Multiple content types test:',
    image: IMAGE,
    data: embedded('application/json', '{"test":"data","value":123}'),
  }),
  test_error_handling: answeringAgent('This tool intentionally returns an error for testing', 'failed'),
  test_tool_with_progress: async function* () {
    yield 'first';
    await pause(150);
    return { output: 'done' };
  },
  test_reconnection: async function* () {
    await pause(100);
    yield 'second';
    return { output: 'Reconnection test completed successfully.' };
  },
};

const pauseOf = (input: unknown): number => {
  const seconds = (input as { seconds?: unknown } | undefined)?.seconds;
  return typeof seconds === 'number' ? seconds * 1_000 : 0;
};

/** The rented agents of the scenarios of tasks. */
const TASK_AGENTS: Record<string, StandInAgent> = {
  greet: async function* ({ input }) {
    yield '';
    return { output: `Hello, ${(input as { name?: string } | undefined)?.name ?? ''}!` };
  },
  slow_compute: async function* ({ input }) {
    yield 'working';
    await pause(pauseOf(input), undefined, { ref: false });
    return { output: `Computed ${(input as { label?: string } | undefined)?.label ?? ''}.` };
  },
  failing_job: async function* () {
    yield 'working';
    await pause(1_000);
    return { status: 'failed', output: 'This job always fails.' };
  },
};

const AGENTS = { ...PLAIN_AGENTS, ...TASK_AGENTS };

/** A listing's id: the marketplace's ids end in six characters, and have at most 32. */
const idOf = (suiteName: string): string => `${suiteName.replaceAll('_', '-').slice(0, 25)}-fixtur`;

/** The listings of the rented agents. */
export const CONFORMANCE_LISTINGS: readonly StandInListing[] = Object.entries(AGENTS).map(([name, run]) => ({
  id: idOf(name),
  run,
  input_schema: { type: 'object' },
}));

/** The suite's tools that are rented agents, with the adapter's names. */
const RENTED = new Map(Object.keys(AGENTS).map((name) => [name, idOf(name).replaceAll('-', '_')]));
const SUITE_NAMES = new Map([...RENTED].map(([suite, name]) => [name, suite]));

type ToolAnswer = CallToolResult | InputRequiredResult;
/** The suite's tool that asks in its call, and continues as a task. */
const ASKS_THEN_TASK = 'test_tool_with_task';
type FixtureTool = (
  context: ServerContext,
  args: Record<string, unknown>,
) => ToolAnswer | Promise<ToolAnswer>;

const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] });
const form = (name: string, type: 'string' | 'boolean') => ({
  type: 'object' as const,
  properties: { [name]: type === 'string' ? { type } : { type } },
  required: [name],
});
/** Three values with their titles. */
const titled = (noun: string) =>
  ['First', 'Second', 'Third'].map((nth, index) => ({ const: `value${index + 1}`, title: `${nth} ${noun}` }));
const userName = () =>
  inputRequired.elicit({ message: 'What is your name?', requestedSchema: form('name', 'string') });
const sampling = (question: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens,
  });

function responses(context: ServerContext) {
  return context.mcpReq.inputResponses;
}

function fixtureTools(secret: Uint8Array): Record<string, FixtureTool> {
  const codec = createRequestStateCodec<{ step: number }>({ key: secret });
  const asked =
    (requestedSchema: object): FixtureTool =>
    async (context, args) => {
      const message = typeof args['message'] === 'string' ? args['message'] : 'Please answer.';
      const { action, content } = await context.mcpReq.elicitInput({
        message,
        requestedSchema: requestedSchema as never,
      });
      return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
    };
  const confirm: FixtureTool = async (context) =>
    context.mcpReq.requestState<{ step: number }>() !== undefined &&
    inputResponse(responses(context), 'confirm')
      ? text('state-ok')
      : inputRequired({
          inputRequests: {
            confirm: inputRequired.elicit({
              message: 'Please confirm',
              requestedSchema: form('ok', 'boolean'),
            }),
          },
          requestState: await codec.mint({ step: 1 }),
        });
  const log: FixtureTool = async (context) => {
    for (const said of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await context.mcpReq.log('info', said);
      await pause(20);
    }
    return text('Logged.');
  };
  const able = (context: ServerContext, capability: 'sampling' | 'elicitation'): boolean => {
    const envelope = context.mcpReq.envelope as Record<string, object> | undefined;
    const declared = envelope?.['io.modelcontextprotocol/clientCapabilities'];
    return declared !== undefined && capability in declared;
  };
  return {
    test_tool_with_logging: log,
    test_logging_tool: log,
    test_sampling: async (context, args) => {
      const prompt = { type: 'text' as const, text: JSON.stringify(args['prompt']) };
      const messages = [{ role: 'user' as const, content: prompt }];
      const answer = await context.mcpReq.requestSampling({ messages, maxTokens: 100 });
      return text(`LLM response: ${JSON.stringify(answer.content)}`);
    },
    test_elicitation: asked({
      type: 'object',
      properties: { username: { type: 'string' }, email: { type: 'string' } },
      required: ['username', 'email'],
    }),
    test_elicitation_sep1034_defaults: asked({
      type: 'object',
      properties: {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      },
    }),
    test_elicitation_sep1330_enums: asked({
      type: 'object',
      properties: {
        untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
        titledSingle: { type: 'string', oneOf: titled('Option') },
        legacyEnum: {
          type: 'string',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
        titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
      },
    }),
    test_missing_capability: (context) => {
      if (able(context, 'sampling')) return text('ok');
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    },
    test_streaming_elicitation: () => inputRequired({ inputRequests: { user_name: userName() } }),
    test_trigger_tool_change: () => text('Nothing changes here.'),
    test_input_required_result_elicitation: (context) => {
      const name = acceptedContent<{ name?: unknown }>(responses(context), 'user_name')?.name;
      return typeof name === 'string'
        ? text(`Hello, ${name}!`)
        : inputRequired({ inputRequests: { user_name: userName() } });
    },
    test_input_required_result_sampling: (context) => {
      const answer = responses(context)?.['capital_question'];
      return answer
        ? text(JSON.stringify(answer))
        : inputRequired({
            inputRequests: { capital_question: sampling('What is the capital of France?', 100) },
          });
    },
    test_input_required_result_list_roots: (context) => {
      const answer = responses(context)?.['client_roots'];
      return answer
        ? text(JSON.stringify(answer))
        : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    },
    test_input_required_result_request_state: confirm,
    test_input_required_result_tampered_state: confirm,
    test_input_required_result_multiple_inputs: async (context) => {
      const given = responses(context) ?? {};
      return 'user_name' in given && 'greeting' in given && 'client_roots' in given
        ? text(JSON.stringify(given))
        : inputRequired({
            inputRequests: {
              user_name: userName(),
              greeting: sampling('Generate a greeting', 50),
              client_roots: inputRequired.listRoots(),
            },
            requestState: await codec.mint({ step: 1 }),
          });
    },
    test_input_required_result_multi_round: async (context) => {
      const step = context.mcpReq.requestState<{ step: number }>()?.step ?? 0;
      if (step === 2) return text(JSON.stringify(responses(context)));
      const [key, message, field] =
        step === 0
          ? ['step1', 'Step 1: What is your name?', 'name']
          : ['step2', 'Step 2: What is your favorite color?', 'color'];
      return inputRequired({
        inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema: form(field, 'string') }) },
        requestState: await codec.mint({ step: step + 1 }),
      });
    },
    test_input_required_result_capabilities: (context) =>
      inputRequired({
        inputRequests: {
          ...(able(context, 'sampling') ? { question: sampling('What is the capital of France?', 100) } : {}),
          ...(able(context, 'elicitation') ? { user_name: userName() } : {}),
        },
        requestState: 'unsigned',
      }),
  };
}

const SCHEMA_TOOL: Tool = {
  name: 'json_schema_2020_12_tool',
  description: 'Tool with JSON Schema 2020-12 features',
  inputSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // oxlint-disable-next-line unicorn/no-thenable
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
};

const RESOURCES: readonly (Resource & { content: { text: string } | { blob: string } })[] = [
  {
    uri: 'test://static-text',
    name: 'static-text',
    mimeType: 'text/plain',
    content: { text: 'This is the content of the static text resource.' },
  },
  { uri: 'test://static-binary', name: 'static-binary', mimeType: 'image/png', content: { blob: PNG } },
  {
    uri: 'test://watched-resource',
    name: 'watched-resource',
    mimeType: 'text/plain',
    content: { text: 'Watched.' },
  },
];

const PROMPTS: readonly Prompt[] = [
  { name: 'test_simple_prompt', description: 'A simple prompt' },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with arguments',
    arguments: [
      { name: 'arg1', required: true },
      { name: 'arg2', required: true },
    ],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource',
    arguments: [{ name: 'resourceUri', required: true }],
  },
  { name: 'test_prompt_with_image', description: 'A prompt with an image' },
  { name: 'test_input_required_result_prompt', description: 'A prompt that asks' },
];

function promptMessages(
  name: string,
  args: Record<string, string>,
  context: ServerContext,
): GetPromptResult | InputRequiredResult | undefined {
  const say = (said: string): GetPromptResult['messages'][number] => ({
    role: 'user',
    content: { type: 'text', text: said },
  });
  switch (name) {
    case 'test_simple_prompt':
      return { messages: [say('This is a simple prompt for testing.')] };
    case 'test_prompt_with_arguments':
      return { messages: [say(`Prompt with arguments: arg1='${args['arg1']}', arg2='${args['arg2']}'`)] };
    case 'test_prompt_with_embedded_resource': {
      const resource = {
        uri: args['resourceUri'] ?? '',
        mimeType: 'text/plain',
        text: 'Embedded resource content for testing.',
      };
      const ask = say('Please process the embedded resource above.');
      return { messages: [{ role: 'user', content: { type: 'resource', resource } }, ask] };
    }
    case 'test_prompt_with_image': {
      const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
      return { messages: [{ role: 'user', content: image }, say('Please analyze the image above.')] };
    }
    case 'test_input_required_result_prompt': {
      const given = acceptedContent(context.mcpReq.inputResponses, 'user_context');
      if (given) return { messages: [say(JSON.stringify(given))] };
      const message = 'What context should the prompt use?';
      return inputRequired({
        inputRequests: {
          user_context: inputRequired.elicit({ message, requestedSchema: form('context', 'string') }),
        },
      });
    }
    default:
      return undefined;
  }
}

/** Adds the fixtures to a rental server. Other requests go to the adapter. */
export function conformanceFixture(secret: Uint8Array): (server: Server, handlers: RentalHandlers) => void {
  const tools = fixtureTools(secret);
  const reconnected = new Set<string>();
  const fixtureTasks = createFixtureTasks();
  return (server, handlers) => {
    server.registerCapabilities({ logging: {}, completions: {}, resources: { subscribe: true } });
    server.setRequestHandler('tools/list', async ({ params }, context) => {
      const page = await handlers.listTools(params, context);
      const mine = [...Object.keys(tools), ...ASKING_TOOLS, ASKS_THEN_TASK].map((name): Tool => ({
        name,
        description: 'A tool of the conformance suite.',
        inputSchema: { type: 'object' },
      }));
      const rented = page.tools.map((tool) => ({ ...tool, name: SUITE_NAMES.get(tool.name) ?? tool.name }));
      return { ...page, tools: [...rented, ...mine, SCHEMA_TOOL] };
    });
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const own = tools[params.name];
      if (own) return own(context, params.arguments ?? {});
      const started = fixtureTasks.begin(params.name);
      if (started) return started;
      // The suite's rule for a tool that is only a task.
      if (params.name === 'failing_job') requireTasks(context);
      if (params.name === ASKS_THEN_TASK) {
        const label = acceptedContent<{ name?: unknown }>(responses(context), 'user_name')?.name;
        if (typeof label !== 'string') return inputRequired({ inputRequests: { user_name: userName() } });
        const input = { seconds: declaresTasks(context) ? 1 : 0, label };
        const slow = { name: RENTED.get('slow_compute') ?? '', arguments: { task: 'Go on.', input } };
        return handlers.callTool(slow, context) as Promise<ToolAnswer>;
      }
      if (params.name === 'test_reconnection') {
        // The suite requires that the server closes the stream first; the client then asks for the rest.
        const stream = context.sessionId ?? 'once';
        if (!reconnected.has(stream)) {
          reconnected.add(stream);
          setTimeout(() => context.http?.closeSSE?.(), 20);
        }
      }
      const name = RENTED.get(params.name);
      if (name === undefined) return handlers.callTool(params, context) as Promise<ToolAnswer>;
      // Every rented agent takes a task, but the suite sends none. Its scenarios make equal calls and need separate runs.
      const args = { task: 'Do the work of the suite.', input: params.arguments ?? {}, new_run: true };
      return handlers.callTool({ name, arguments: args }, context) as Promise<ToolAnswer>;
    });
    serveTasks(server, fixtureTasks.over(handlers));
    server.setRequestHandler('resources/list', async ({ params }, context) => {
      const page = await handlers.listResources(params, context);
      return {
        ...page,
        resources: [
          ...page.resources,
          ...RESOURCES.map(({ content, ...shown }) => ({ ...shown, size: JSON.stringify(content).length })),
        ],
      };
    });
    server.setRequestHandler('resources/read', async ({ params }, context) => {
      const { uri } = params;
      const known = RESOURCES.find((resource) => resource.uri === uri);
      if (known) return { contents: [{ uri, mimeType: known.mimeType ?? '', ...known.content }] };
      const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
      if (id === undefined) return handlers.readResource(params, context);
      const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri, mimeType: 'application/json', text: data }] };
    });
    server.setRequestHandler('resources/subscribe', () => ({}));
    server.setRequestHandler('resources/unsubscribe', () => ({}));
    server.setRequestHandler('prompts/list', () => ({ prompts: [...PROMPTS] }));
    server.setRequestHandler('prompts/get', ({ params }, context) => {
      const prompt = promptMessages(params.name, params.arguments ?? {}, context);
      if (!prompt) throw new Error(`Unknown prompt: ${params.name}`);
      return prompt;
    });
    server.setRequestHandler('completion/complete', () => ({
      completion: { values: [], total: 0, hasMore: false },
    }));
    server.setRequestHandler('logging/setLevel', () => ({}));
  };
}
