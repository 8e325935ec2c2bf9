import * as z from 'zod';
import { category, jsonSchema } from '../primitives.js';

/** Largest manifest, in bytes of JSON. */
export const MANIFEST_MAX_BYTES = 64 * 1024;

/** Largest number of tools in a manifest. */
export const MANIFEST_MAX_TOOLS = 10;

/** A run's time limit in seconds: the default, and the maximum of a manifest. */
export const TIMEOUT_SECONDS = { default: 60, max: 300 } as const;

/** The scope of each tool that the service offers to an agent. */
export const TOOL_SCOPES = {
  read_input: 'input_only',
  list_inputs: 'input_only',
  search_input: 'input_only',
  run_javascript: 'input_only',
  run_python: 'input_only',
  web_fetch: 'read_only',
  repo_list: 'repo_scoped',
  repo_read: 'repo_scoped',
  repo_search: 'repo_scoped',
} as const;

/** The providers of models; the one list of them. */
export const MODEL_PROVIDERS = {
  openai: { requires: 'model', needsKey: true },
  anthropic: { requires: 'model', needsKey: true },
  self_hosted: { requires: 'endpoint_url', needsKey: false },
} as const satisfies Readonly<
  Record<
    string,
    {
      /** The member that a manifest needs. `endpoint_url`: the creator gives the provider's address. */
      readonly requires: 'model' | 'endpoint_url';
      /** The provider answers no call without the creator's key. */
      readonly needsKey: boolean;
    }
  >
>;

/** Provider of the model of an agent. */
export type ModelProvider = keyof typeof MODEL_PROVIDERS;

/** Provider of the model of an agent. */
export const modelProvider = z.enum(Object.keys(MODEL_PROVIDERS) as [ModelProvider, ...ModelProvider[]]);

/** Name of a tool that the service offers to an agent. */
export type AgentToolName = keyof typeof TOOL_SCOPES;

const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

const manifestTool = z.strictObject({ name: z.string(), scope: z.string() }).superRefine((tool, context) => {
  const scope = Object.hasOwn(TOOL_SCOPES, tool.name) ? TOOL_SCOPES[tool.name as AgentToolName] : undefined;
  if (scope === undefined) {
    const known = Object.keys(TOOL_SCOPES).join(', ');
    context.addIssue({ code: 'custom', path: ['name'], message: `is not a tool; the tools are ${known}` });
  } else if (scope !== tool.scope) {
    context.addIssue({ code: 'custom', path: ['scope'], message: `of ${tool.name} is "${scope}"` });
  }
});

/**
 * An agent's manifest (spec, "Agent manifest"). Declarative with `system_prompt`: the service runs the
 * agent in its sandbox. Connected with `entrypoint_url`: the service calls the creator's webhook.
 */
export const manifest = z
  .strictObject({
    name: z.string().min(1).max(64).regex(kebabCase, 'must be kebab-case, for example invoice-reader'),
    category,
    description: z.string().min(1).max(4000),
    model: z.strictObject({
      provider: modelProvider,
      model: z.string().min(1).max(200).optional(),
      endpoint_url: z.url().max(2000).optional(),
    }),
    system_prompt: z.string().min(1).optional(),
    entrypoint_url: z.url().max(2000).optional(),
    tools: z.array(manifestTool).max(MANIFEST_MAX_TOOLS).optional(),
    input_schema: jsonSchema,
    output_schema: jsonSchema,
    timeout_seconds: z.int().min(1).max(TIMEOUT_SECONDS.max).default(TIMEOUT_SECONDS.default),
  })
  .superRefine(
    (value, context) => {
      const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
      if (value.system_prompt === undefined && value.entrypoint_url === undefined) {
        issue(['system_prompt'], 'is required unless entrypoint_url is set');
      }
      if (value.system_prompt !== undefined && value.entrypoint_url !== undefined) {
        issue(['entrypoint_url'], 'cannot be beside system_prompt: a manifest holds one of the two');
      }
      const tools = Array.isArray(value.tools) ? value.tools : [];
      if (value.entrypoint_url !== undefined && tools.length > 0) {
        issue(['tools'], 'are not for a connected agent: the service holds none for it');
      }
      const model = Object(value.model) as Partial<typeof value.model>;
      const { provider } = model;
      if (provider !== undefined && Object.hasOwn(MODEL_PROVIDERS, provider)) {
        const { requires } = MODEL_PROVIDERS[provider];
        if (model[requires] === undefined) {
          issue(['model', requires], `is required when model.provider is ${provider}`);
        }
      }
      const names = tools.map((tool) => (Object(tool) as Partial<typeof tool>).name);
      for (const [index, name] of names.entries()) {
        if (name !== undefined && names.indexOf(name) !== index) {
          issue(['tools', `${index}`, 'name'], 'is named twice');
        }
      }
    },
    // Also where single fields are wrong: a creator gets every violation at once. The value may then differ from its type.
    { when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value) },
  )
  .meta({ id: 'Manifest' });
export type Manifest = z.infer<typeof manifest>;

type Written = z.input<typeof manifest>;
type OptionalField = {
  [Field in keyof Written]-?: undefined extends Written[Field] ? Field : never;
}[keyof Written];

/** The fields that a manifest may leave out. An update removes them where the new manifest has them no more. */
export const OPTIONAL_MANIFEST_FIELDS: readonly string[] = Object.keys({
  system_prompt: true,
  entrypoint_url: true,
  tools: true,
  timeout_seconds: true,
} satisfies Record<OptionalField, true>);
