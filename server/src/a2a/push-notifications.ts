import { TaskState, type TaskPushNotificationConfig } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { V1PushNotificationSerializer, type A2ARequestHandler } from '@a2a-js/sdk/server';
import { ApiError } from '../errors/api-error.js';
import { PUSH_ENDS, type Push, type PushConfigs, type PushEnd } from '../events/index.js';
import { malformed } from './read-message.js';
import { statusOf } from './task-of-run.js';

/** The header of a receiver's token, as the SDKs send it. */
const TOKEN_HEADER = 'x-a2a-notification-token';
const TOKEN = /^[\x20-\x7e]{0,4000}$/;
const SCHEME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,50}$/;
const ID = /^[\x21-\x7e]{0,200}$/;
const STATES: Record<PushEnd, TaskState> = {
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
};

/** The parts of the push notifications of one caller. */
export interface PushDeps {
  pushes: PushConfigs;
  wallet: string;
  isLegacy: boolean;
  /** The context of a task that this caller sees. @throws TaskNotFoundError for another one. */
  contextOf: (taskId: string) => Promise<string>;
}

type Handlers = Pick<
  A2ARequestHandler,
  | 'createTaskPushNotificationConfig'
  | 'getTaskPushNotificationConfig'
  | 'listTaskPushNotificationConfigs'
  | 'deleteTaskPushNotificationConfig'
>;

/** Answers A2A's methods for push notifications. A task has one config: the end of its run is told, by a callback. */
export function createPushHandlers(deps: PushDeps): Handlers {
  const { pushes, wallet, contextOf } = deps;
  const known = async (taskId: string): Promise<TaskPushNotificationConfig | undefined> => {
    await contextOf(taskId);
    const found = await pushes.find(taskId);
    return found && toConfig(taskId, found);
  };
  const named = async (taskId: string, id: string): Promise<TaskPushNotificationConfig> => {
    const config = await known(taskId);
    // Clients of 0.3 may leave the id out.
    if (!config || (id !== '' && config.id !== id))
      throw new TaskNotFoundError({ message: 'The task has no such push notification config.' });
    return config;
  };
  return {
    createTaskPushNotificationConfig: async (config) =>
      setPush(deps, { ...config, id: config.id || config.taskId }),
    getTaskPushNotificationConfig: async ({ taskId, id }) => named(taskId, id),
    listTaskPushNotificationConfigs: async ({ taskId }) => {
      const config = await known(taskId);
      return { configs: config ? [config] : [], nextPageToken: '' };
    },
    // To delete it again is no error.
    deleteTaskPushNotificationConfig: async ({ taskId, id }) => {
      const config = await known(taskId);
      if (config && (id === '' || config.id === id)) await pushes.remove(wallet, taskId).catch(refuse);
    },
  };
}

/** Checks a config before its run. @throws RequestMalformedError */
export function checkPush(pushes: PushConfigs, config: TaskPushNotificationConfig): void {
  const { id, url, token, authentication } = config;
  if (!ID.test(id))
    throw malformed('The id of the push notification config has at most 200 characters of ASCII.');
  const isTaken =
    TOKEN.test(token) &&
    (!authentication || (SCHEME.test(authentication.scheme) && TOKEN.test(authentication.credentials)));
  if (!isTaken)
    throw malformed('The token or the credentials of the push notification config are not taken.');
  try {
    pushes.check(url);
  } catch (error) {
    refuse(error);
  }
}

/** Sets the config of a task. @throws RequestMalformedError; UnsupportedOperationError where it has another one. */
export async function setPush(
  { pushes, wallet, isLegacy, contextOf }: PushDeps,
  config: TaskPushNotificationConfig,
): Promise<TaskPushNotificationConfig> {
  checkPush(pushes, config);
  const { taskId, id, url, token, authentication } = config;
  const contextId = await contextOf(taskId);
  const present = await pushes.find(taskId);
  if (present && present.push.config.id !== id)
    throw new UnsupportedOperationError({
      message: 'A task has one push notification config. Delete the other one first.',
    });
  const serializer = isLegacy ? new V03PushNotificationSerializer() : new V1PushNotificationSerializer();
  const written = PUSH_ENDS.map((end) => {
    const status = statusOf(STATES[end]);
    const task = { id: taskId, contextId, status, artifacts: [], history: [], metadata: undefined };
    const value = { taskId, contextId, status, metadata: undefined };
    return serializer.serialize({ payload: { $case: 'statusUpdate', value } }, task);
  });
  const [completed, failed, canceled] = written.map(({ body }) => body) as [string, string, string];
  const push: Push = {
    config: { id, ...(token && { token }), ...(authentication && { authentication }) },
    headers: { 'content-type': written[0]?.contentType ?? 'application/json', ...secretsOf(config) },
    bodies: { completed, failed, canceled },
  };
  await pushes.set(wallet, taskId, url, push).catch(refuse);
  return config;
}

/** @throws RequestMalformedError for a refusal of the service */
function refuse(error: unknown): never {
  throw error instanceof ApiError ? malformed(error.message) : error;
}

/** The headers by which the receiver knows the sender, as the SDK of A2A sends them. */
function secretsOf({ token, authentication }: TaskPushNotificationConfig): Record<string, string> {
  if (authentication?.scheme && authentication.credentials)
    return { authorization: `${authentication.scheme} ${authentication.credentials}` };
  return token ? { [TOKEN_HEADER]: token } : {};
}

function toConfig(
  taskId: string,
  { url, push: { config } }: { url: string; push: Push },
): TaskPushNotificationConfig {
  const { id, token = '', authentication } = config;
  return { tenant: '', id, taskId, url, token, authentication };
}
