import { CLIENT_CAPABILITIES_META_KEY, type Server, type ServerContext } from '@modelcontextprotocol/server';

/** The ways in which a client asks its user (MCP, "Elicitation"; SEP-1036). */
export interface ElicitationModes {
  /** The client shows a form and returns its values. */
  readonly form: boolean;
  /** The client opens a page, on which the user answers. */
  readonly url: boolean;
}

/** The declared modes of a request's client. Elicitation without a mode means forms. */
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
