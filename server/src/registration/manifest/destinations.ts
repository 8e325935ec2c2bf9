import { type AgentToolName, canonicalJson } from '@agent-rental/contract';
import type { PrivatePart } from './private-part.js';
import type { Violation } from './validate.js';

/** Whether a tool can send an agent's data to the web. */
const REACHES_WEB: Readonly<Record<AgentToolName, boolean>> = {
  read_input: false,
  list_inputs: false,
  search_input: false,
  run_javascript: false,
  run_python: false,
  web_fetch: true,
  repo_list: false,
  repo_read: false,
  repo_search: false,
};
const WEB_TOOLS = new Set(Object.entries(REACHES_WEB).flatMap(([name, isWeb]) => (isWeb ? [name] : [])));

type Fields = Record<string, unknown>;

/**
 * The members of an update that decide where renters' tasks and inputs go. These are another endpoint or model,
 * another model key, and another system prompt of an agent with access to the web. The wallet must confirm them.
 * Other changes only need the right to publish.
 *
 * @param base the version to change
 * @param manifest the changed manifest, valid or not
 * @param bringsKey whether the update has a model key
 */
export function redirectingMembers(base: PrivatePart, manifest: Fields, bringsKey: boolean): string[] {
  const [before, after] = [destinationOf(asManifest(base)), destinationOf(manifest)];
  const readsWeb = hasWebTool(manifest['tools']);
  return [
    ...Object.keys(after).filter((member) => canonicalJson(before[member]) !== canonicalJson(after[member])),
    ...(bringsKey ? ['model_key'] : []),
    ...(readsWeb && !hasWebTool(asManifest(base)['tools']) ? ['tools'] : []),
    ...(readsWeb && asManifest(base)['system_prompt'] !== manifest['system_prompt'] ? ['system_prompt'] : []),
  ];
}

/** The violations for members that changed without the wallet's confirmation. */
export function unconfirmed(members: readonly string[]): Violation[] {
  return members.map((path) => ({
    path,
    message: "decides where renters' data goes: send the change with the wallet's fresh signature",
  }));
}

/** A version of an older release has no manifest beside its parts. */
function asManifest(part: PrivatePart): Fields {
  if (part.manifest !== undefined) return part.manifest;
  if (part.mode === 'connected') return { entrypoint_url: part.entrypointUrl };
  const { provider, endpointUrl } = part.model;
  return {
    model: { provider, endpoint_url: endpointUrl },
    system_prompt: part.systemPrompt,
    tools: part.tools,
  };
}

/** A connected agent's model is its creator's own affair. */
function destinationOf({ entrypoint_url: entrypoint, model }: Fields): Fields {
  const { provider, endpoint_url: endpoint } = Object(model) as Fields;
  const isConnected = entrypoint !== undefined;
  return {
    entrypoint_url: entrypoint,
    'model.provider': isConnected ? undefined : provider,
    'model.endpoint_url': isConnected ? undefined : endpoint,
  };
}

function hasWebTool(tools: unknown): boolean {
  return (
    Array.isArray(tools) && tools.some((tool) => WEB_TOOLS.has(String((Object(tool) as Fields)['name'])))
  );
}
