import { CLIENT_CAPABILITIES_META_KEY, type Server, type ServerContext } from '@modelcontextprotocol/server';

/** In which ways a client puts a question to its user (MCP, "Elicitation"; SEP-1036). */
export interface ElicitationModes {
  /** Shows a form, and gives its values. */
  readonly form: boolean;
  /** Opens an address, whose page has the answer. */
  readonly url: boolean;
}

/** The modes that the client of a request declares. One that declares elicitation without a mode shows forms. */
export function elicitationModes(
  server: Pick<Server, 'getClientCapabilities'>,
  context: ServerContext,
): ElicitationModes {
  const envelope = context.mcpReq.envelope as Record<string, Capabilities> | undefined;
  const declared: Capabilities | undefined =
    envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const { elicitation } = declared ?? {};
  const url = elicitation?.url !== undefined;
  return { form: elicitation !== undefined && (elicitation.form !== undefined || !url), url };
}

interface Capabilities {
  readonly elicitation?: { readonly form?: unknown; readonly url?: unknown } | undefined;
}
