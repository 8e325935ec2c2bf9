import type { Manifest, ModelProvider } from '@agent-rental/contract';
import { OFFLINE_MODEL_ID } from '../offline-model/index.js';

/** Where the examples run, and their state folder. */
export interface Settings {
  /** Base URL of the marketplace's API. */
  baseUrl: string;
  rpcUrl: string;
  /** The marketplace program, where it is not the published one. */
  programId: string | undefined;
  /** The server's state folder; the examples keep theirs in it. */
  stateDir: string;
}

/** A model for the declarative examples. */
export interface ModelChoice {
  /** Names the model in messages, and tells listings made for different models apart. */
  label: string;
  model: Manifest['model'];
  /** Handed to the marketplace beside the manifest, to be kept by it. */
  key?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

type Vendor = Exclude<ModelProvider, 'self_hosted'>;

/** Used when a vendor's key is set and `MODEL_NAME` is not. */
const DEFAULT_MODEL: Readonly<Record<Vendor, string>> = {
  openai: 'gpt-4.1-mini',
  anthropic: 'claude-sonnet-4-5',
};

/**
 * Reads where to work from the environment.
 *
 * @throws Error naming the variable that is missing.
 */
export function readSettings(environment: Environment): Settings {
  const required = (name: string): string => {
    const value = environment[name];
    if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set.`);
    return value;
  };
  return {
    baseUrl: required('AGENT_RENTAL_URL'),
    rpcUrl: required('SOLANA_RPC_URL'),
    programId: environment['AGENT_RENTAL_PROGRAM_ID'] || undefined,
    stateDir: required('STATE_DIR'),
  };
}

/**
 * Chooses the model of the declarative examples: an own endpoint (`MODEL_BASE_URL`), a vendor whose key is
 * in the environment, or the offline model.
 *
 * @throws Error when `MODEL_BASE_URL` is alone or is no URL.
 */
export function chooseModel(
  environment: Environment,
  offline: { baseUrl: string; apiKey: string },
): ModelChoice {
  const read = (name: string) => environment[name] || undefined;
  const [endpoint, name, key] = [read('MODEL_BASE_URL'), read('MODEL_NAME'), read('MODEL_API_KEY')];
  if (endpoint !== undefined) {
    if (name === undefined)
      throw new Error('MODEL_BASE_URL is set; set MODEL_NAME to the name of a model there.');
    if (!URL.canParse(endpoint))
      throw new Error('MODEL_BASE_URL is not a URL, for example http://127.0.0.1:11434/v1.');
    return {
      label: `${name} at ${endpoint}`,
      model: { provider: 'self_hosted', model: name, endpoint_url: endpoint },
      ...(key !== undefined && { key }),
    };
  }
  for (const [provider, usual] of Object.entries(DEFAULT_MODEL) as [Vendor, string][]) {
    const vendorKey = read(`${provider.toUpperCase()}_API_KEY`);
    if (vendorKey === undefined) continue;
    const model = name ?? usual;
    return { label: `${model} of ${provider}`, model: { provider, model }, key: vendorKey };
  }
  return {
    label: OFFLINE_MODEL_ID,
    model: { provider: 'self_hosted', model: OFFLINE_MODEL_ID, endpoint_url: offline.baseUrl },
    key: offline.apiKey,
  };
}

/** Whether a URL leads to this machine, so that the server has to allow it by name. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
