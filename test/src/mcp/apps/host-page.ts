/** The page of a chat: shows a view by the package's own bridge. Bundled for the browser by `view-host.ts`. */
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

type Result = Parameters<AppBridge['sendToolResult']>[0];

/** The requests of the view to its host. */
interface Heard {
  links: string[];
  said: string[];
  calls: string[];
}

declare global {
  interface Window {
    heard: Heard;
    openView(view: { html: string; result: Result; theme: 'light' | 'dark'; next?: Result }): Promise<void>;
  }
}

window.heard = { links: [], said: [], calls: [] };
window.openView = async ({ html, result, theme, next }) => {
  const frame = document.createElement('iframe');
  frame.title = 'View';
  // As hosts do: scripts alone, in another origin than the page.
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.style.cssText = 'width: 600px; height: 700px; border: 0';
  const capabilities = { openLinks: {}, serverTools: {}, message: { text: {} } };
  const bridge = new AppBridge(null, { name: 'host', version: '1' }, capabilities, {
    hostContext: { theme },
  });
  bridge.onopenlink = async ({ url }) => {
    window.heard.links.push(url);
    return {};
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a request of the view, no event
  bridge.onmessage = async ({ content }) => {
    window.heard.said.push(JSON.stringify(content));
    return {};
  };
  bridge.oncalltool = async ({ name, arguments: args }) => {
    window.heard.calls.push(`${name} ${JSON.stringify(args)}`);
    return next ?? result;
  };
  document.body.replaceChildren(frame);
  if (frame.contentWindow === null) throw new Error('The frame has no window.');
  const isOpen = new Promise<void>((resolve) => (bridge.oninitialized = () => resolve()));
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html;
  await isOpen;
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult(result);
};
