import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createDeadline } from '@agent-rental/sdk';
import { MODEL_PROVIDERS, type AgentFault, type ModelProvider } from '@agent-rental/sdk/creator';
import type { CliEnvironment } from '../cli-environment.js';
import { CommandError, UsageError } from '../errors.js';
import type { AgentProject } from './agent-file.js';

const KEY_VARIABLES: Readonly<Record<ModelProvider, string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  self_hosted: 'MODEL_API_KEY',
};
const TEST_MS = 15_000;
const QUESTION = [{ role: 'user', content: 'Are you there?' }];

/** The model of an agent that the marketplace runs. */
interface NamedModel {
  readonly provider: ModelProvider;
  readonly model?: string;
  readonly endpoint_url?: string;
}

/** A key of an agent's model. */
export interface ModelKey {
  readonly key: string;
  /** Its place, for people: a file, a variable or the terminal. */
  readonly from: string;
  readonly model: NamedModel;
}

/** The model that needs a key; undefined for a connected agent. */
function modelOf({ body }: AgentProject): NamedModel | undefined {
  const model = Object(body['model']) as Partial<NamedModel>;
  const isKnown = Object.hasOwn(MODEL_PROVIDERS, String(model.provider));
  return body['system_prompt'] === undefined || !isKnown ? undefined : (model as NamedModel);
}

/**
 * Finds the key of the agent's model: in the source, else in the variable of the vendor.
 *
 * @param source name of a file or of a variable; true names the variable of the vendor
 * @throws UsageError for a source without a key. The error does not repeat it, since it may be a key.
 */
export function findModelKey(
  project: AgentProject,
  source: string | true | undefined,
  { variables, folder }: CliEnvironment,
): ModelKey | undefined {
  const model = modelOf(project);
  if (model === undefined) {
    if (source === undefined) return undefined;
    throw new UsageError('--model-key is for an agent with a system prompt, and this one has none.');
  }
  const variable = typeof source === 'string' ? source : KEY_VARIABLES[model.provider];
  const inVariable = variables[variable]?.trim();
  if (inVariable) return { key: inVariable, from: variable, model };
  if (source === true) throw new UsageError(`--model-key reads the key in ${variable}, which is not set.`);
  if (source === undefined) return undefined;
  const file = resolve(folder, source);
  const inFile = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (inFile !== '') return { key: inFile, from: 'the named file', model };
  throw new UsageError(
    '--model-key takes the name of a file or of a variable with the key in it, and there is none. It never takes a key.',
  );
}

/**
 * The key for a registration. Asks the person at the terminal for a key that the vendor requires.
 *
 * @throws CommandError without such a key
 */
export async function requireModelKey(
  project: AgentProject,
  source: string | undefined,
  environment: CliEnvironment,
): Promise<ModelKey | undefined> {
  const found = findModelKey(project, source, environment);
  const model = modelOf(project);
  if (found !== undefined || model === undefined || !MODEL_PROVIDERS[model.provider].needsKey) return found;
  const { provider } = model;
  const typed = (await environment.askSecret?.(`Key of ${provider} for the agent's model: `))?.trim();
  if (typed) return { key: typed, from: 'the terminal', model };
  throw new CommandError(missingKeyMessage(provider));
}

const missingKeyMessage = (provider: ModelProvider) =>
  `${provider} answers no call without a key, and there is none. Set ${KEY_VARIABLES[provider]}, or name a file: --model-key FILE.`;

/** The fault of an agent whose vendor requires a key, where there is none and no terminal to ask at. */
export function missingKey(
  project: AgentProject,
  source: string | undefined,
  environment: CliEnvironment,
): AgentFault[] {
  const provider = modelOf(project)?.provider;
  if (provider === undefined || !MODEL_PROVIDERS[provider].needsKey || environment.askSecret) return [];
  if (findModelKey(project, source, environment) !== undefined) return [];
  return [{ path: 'model:', message: missingKeyMessage(provider).replace(/\.$/, '') }];
}

/**
 * Asks the model a short question with the key, as the marketplace will.
 *
 * @throws CommandError that says which of key, name and address of the model is wrong
 */
export async function testModelKey(
  { key, from, model }: ModelKey,
  { signal, err }: Pick<CliEnvironment, 'signal' | 'err'>,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<void> {
  const { url, headers, isOwn } = addressOf(model, key);
  const body = { model: model.model ?? 'default', messages: QUESTION, max_tokens: 1, stream: true };
  const deadline = createDeadline(TEST_MS, signal);
  let status: number;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: deadline.signal,
    });
    status = response.status;
    await response.body?.cancel();
  } catch (error) {
    if (signal.aborted) throw error;
    if (isOwn)
      throw new CommandError(
        `model.endpoint_url is wrong, or its model is not running: ${url} cannot be reached.`,
      );
    err(`${new URL(url).host} cannot be reached from here, so the key is not tested.`);
    return;
  } finally {
    deadline.clear();
  }
  const { host } = new URL(url);
  if (status === 401 || status === 403) {
    throw new CommandError(`The key of the model in ${from} is wrong: ${host} refuses it with ${status}.`);
  }
  if (isOwn && (status === 404 || status === 405 || (status >= 300 && status < 400))) {
    throw new CommandError(
      `model.endpoint_url is wrong: ${url} answers ${status}. It is the address before /chat/completions.`,
    );
  }
  if (status === 404) throw new CommandError(`model.model is wrong: ${host} has no model "${body.model}".`);
}

function addressOf({ provider, endpoint_url: endpoint = '' }: NamedModel, key: string) {
  const bearer = { authorization: `Bearer ${key}` };
  switch (provider) {
    case 'openai':
      return { url: 'https://api.openai.com/v1/chat/completions', headers: bearer, isOwn: false };
    case 'anthropic':
      return {
        url: 'https://api.anthropic.com/v1/messages',
        headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
        isOwn: false,
      };
    case 'self_hosted':
      return { url: `${endpoint.replace(/\/+$/, '')}/chat/completions`, headers: bearer, isOwn: true };
    default:
      return provider satisfies never;
  }
}
