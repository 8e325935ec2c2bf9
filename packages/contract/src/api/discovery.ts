import * as z from 'zod';

const keyValueInput = z.object({
  name: z.string(),
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
});

/** The MCP server card (SEP-2127, schema v1), as far as this service uses it. */
export const serverCard = z
  .object({
    $schema: z.literal('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
    name: z
      .string()
      .max(200)
      .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
    title: z.string().min(1).max(100),
    description: z.string().min(1).max(100),
    version: z.string().max(255),
    websiteUrl: z.url(),
    icons: z.array(z.object({ src: z.url(), mimeType: z.string(), sizes: z.array(z.string()) })),
    remotes: z.array(
      z.object({
        type: z.literal('streamable-http'),
        url: z.string().regex(/^https?:\/\/\S+$/),
        headers: z.array(keyValueInput),
      }),
    ),
  })
  .meta({ id: 'ServerCard' });
export type ServerCard = z.infer<typeof serverCard>;

/** The catalog by which a domain names its server cards (ai-catalog 1.0, as far as this service uses it). */
export const aiCatalog = z
  .object({
    specVersion: z.literal('1.0'),
    entries: z.array(z.object({ identifier: z.string(), type: z.string(), url: z.url() })),
  })
  .meta({ id: 'AiCatalog' });

/** An A2A agent card, as far as this service uses it. Clients that send no version get the form of version 0.3. */
export const agentCard = z
  .object({
    name: z.string(),
    description: z.string(),
    version: z.string(),
    supportedInterfaces: z.array(
      z.looseObject({ url: z.url(), protocolBinding: z.string(), protocolVersion: z.string() }),
    ),
    skills: z.array(
      z.looseObject({ id: z.string(), name: z.string(), description: z.string(), tags: z.array(z.string()) }),
    ),
  })
  .loose()
  .meta({ id: 'AgentCard' });

/** The index of the skills (Agent Skills Discovery 0.1). Each file is below the skill's name. */
export const skillsIndex = z
  .object({
    skills: z.array(z.object({ name: z.string(), description: z.string(), files: z.array(z.string()) })),
  })
  .meta({ id: 'SkillsIndex' });
