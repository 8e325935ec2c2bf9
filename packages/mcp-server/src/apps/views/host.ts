/** The messages of a view to its host (MCP Apps, SEP-1865). The package's own class alone is larger than a view may be. */

/** A tool's result, as the host passes it on. */
export interface ShownResult {
  content?: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

interface Message {
  jsonrpc?: string;
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { message?: string };
}

/** The host of a view. */
export interface Host {
  callTool(name: string, args: Record<string, unknown>): Promise<ShownResult>;
  /** Asks the host to open a page in the browser of the person. */
  openLink(url: string): Promise<void>;
  /** Says something in the conversation, in the name of the person. */
  say(text: string): Promise<void>;
}

const PROTOCOL_VERSION = '2026-01-26';

/** Connects to the host, and hears of the result of the tool. The theme of the host decides between light and dark. */
export async function connectHost(onResult: (result: ShownResult, host: Host) => void): Promise<void> {
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let nextId = 1;
  // The host alone is the parent of a view. It has any origin.
  const send = (message: Message) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  const ask = (method: string, params: Record<string, unknown>) =>
    new Promise<unknown>((resolve, reject) => {
      waiting.set(nextId, { resolve, reject });
      send({ id: nextId, method, params });
      nextId += 1;
    });
  const host: Host = {
    callTool: async (name, args) => (await ask('tools/call', { name, arguments: args })) as ShownResult,
    openLink: async (url) => void (await ask('ui/open-link', { url })),
    say: async (text) => void (await ask('ui/message', { role: 'user', content: [{ type: 'text', text }] })),
  };
  window.addEventListener('message', ({ source, data }: MessageEvent<Message>) => {
    if (source !== window.parent || data?.jsonrpc !== '2.0') return;
    const { id, method, params, result, error } = data;
    if (method === undefined) {
      const asked = waiting.get(id ?? 0);
      waiting.delete(id ?? 0);
      if (error) asked?.reject(new Error(error.message));
      else asked?.resolve(result);
      return;
    }
    if (method === 'ui/notifications/tool-result') onResult(params ?? {}, host);
    if (method === 'ui/notifications/host-context-changed') takeTheme(params);
    if (id !== undefined) send({ id, result: {} });
  });
  const opened = (await ask('ui/initialize', {
    appInfo: { name: 'agent-rental', version: '1' },
    appCapabilities: {},
    protocolVersion: PROTOCOL_VERSION,
  })) as { hostContext?: Record<string, unknown> };
  takeTheme(opened.hostContext);
  send({ method: 'ui/notifications/initialized', params: {} });
  new ResizeObserver(() => {
    const { scrollWidth: width, scrollHeight: height } = document.documentElement;
    send({ method: 'ui/notifications/size-changed', params: { width, height } });
  }).observe(document.body);
}

function takeTheme(context: Record<string, unknown> | undefined): void {
  const theme = context?.['theme'];
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
}
