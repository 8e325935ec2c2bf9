import { randomUUID } from 'node:crypto';
import {
  Role,
  TaskState,
  type Part,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
} from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  type Client,
} from '@a2a-js/sdk/client';

/** The SDK's own client, unmodified: it finds the agent by its card below an address, and sends a bearer. */
export function connect(url: string, token: string, version: '1.0' | '0.3' = '1.0'): Promise<Client> {
  const legacyCompat = { enabled: version === '0.3' };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl: withBearer(token), legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ legacyCompat, fetchImpl: asked(version) }),
  });
  return factory.createFromUrl(`${url}/`);
}

const withBearer =
  (token: string): typeof fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };

/** Asks for the card as clients of that version do. Clients of 0.3 send no version, and do not know the interfaces of 1.0. */
const asked =
  (version: string): typeof fetch =>
  async (input, init) => {
    if (version === '1.0') return fetch(input, init);
    const { supportedInterfaces: _, ...known } = (await (await fetch(input)).json()) as Record<
      string,
      unknown
    >;
    return Response.json(known);
  };

/** A part of a message. */
export const part = (content: Part['content'], mediaType = ''): Part => ({
  content,
  metadata: undefined,
  filename: '',
  mediaType,
});

/** A message of a user. */
export function message(
  parts: string | Part[],
  { messageId = randomUUID(), contextId = '', taskId = '', returnImmediately = false } = {},
): SendMessageRequest {
  return {
    tenant: '',
    message: {
      messageId,
      contextId,
      taskId,
      role: Role.ROLE_USER,
      parts: typeof parts === 'string' ? [part({ $case: 'text', value: parts })] : parts,
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
    metadata: undefined,
  };
}

/** The task of an answer. */
export function asTask(answer: object): Task {
  if (!('status' in answer)) throw new Error(`It is no task: ${JSON.stringify(answer)}`);
  return answer as Task;
}

/** The name of a task's state. */
export const stateOf = (task: Pick<Task, 'status'> | undefined): string =>
  TaskState[task?.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED].replace('TASK_STATE_', '');

/** The text with which a task tells of its state. */
export const textOfState = (task: Pick<Task, 'status'>): string => textOf(task.status?.message?.parts ?? []);

/** The text of a task's output. */
export const outputOf = (task: Task): string => textOf(task.artifacts.flatMap(({ parts }) => parts));

/** The texts of parts. */
export const textOf = (parts: readonly Part[]): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');

/** The events of a stream, up to its end. */
export async function eventsOf(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
