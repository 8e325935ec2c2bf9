import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/client';
import { build } from 'esbuild';
import type { Browser, BrowserContextOptions, Frame, Page } from 'playwright-core';

const PAGE = fileURLToPath(new URL('../../../src/mcp/apps/host-page.ts', import.meta.url));
let bundled: Promise<string> | undefined;

/** The extensions of a client that shows views. */
export const APPS = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

/** A view in the page of a host. */
export interface OpenView {
  readonly page: Page;
  readonly frame: Frame;
  /** Addresses that the page or the view asked the network for. */
  readonly requests: readonly string[];
  /** Links, messages and calls that the view asked its host for. */
  heard(): Promise<{ links: string[]; said: string[]; calls: string[] }>;
  close(): Promise<void>;
}

/** The document of a view. */
export async function viewOf(client: Client, name: 'approval' | 'run' | 'receipt'): Promise<string> {
  const { contents } = await client.readResource({ uri: `ui://agent-rental/${name}.html` });
  const [content] = contents;
  if (content === undefined || !('text' in content)) throw new Error(`There is no view ${name}.`);
  return content.text;
}

/** Shows a view with the result of its tool. @param next the answer to a call of the view */
export async function openView(
  browser: Browser,
  view: { html: string; result: object; theme?: 'light' | 'dark'; next?: object },
  options: BrowserContextOptions = {},
): Promise<OpenView> {
  bundled ??= build({
    entryPoints: [PAGE],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
  }).then(({ outputFiles }) => outputFiles[0]?.text ?? '');
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const requests: string[] = [];
  page.on('request', (request) => void requests.push(request.url()));
  await page.setContent('<!doctype html><html lang="en"><title>Chat</title><body></body></html>');
  await page.addScriptTag({ content: await bundled });
  await page.evaluate((given) => window.openView(given as never), { theme: 'light', ...view });
  const [, frame] = page.frames();
  if (frame === undefined) throw new Error('The view has no frame.');
  await frame.locator('h1').waitFor();
  return {
    page,
    frame,
    requests,
    heard: () => page.evaluate(() => window.heard),
    close: () => context.close(),
  };
}
