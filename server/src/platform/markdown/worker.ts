/** Renders Markdown in a separate thread, one text at a time. The owner ends the thread when a text takes too long. */
import { parentPort } from 'node:worker_threads';
import { markdownHtml } from './markdown-html.js';

/** The HTML of a text, or none where it cannot be rendered. A message about the start of the work comes first. */
export type MarkdownAnswer = { html: string | undefined };

const port = parentPort;
if (!port) throw new Error('This file runs as a worker.');

port.on('message', (markdown: string) => {
  // `postMessage` of a thread has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage('started');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage(answer(markdown));
});

function answer(markdown: string): MarkdownAnswer {
  try {
    return { html: markdownHtml(markdown) };
  } catch {
    return { html: undefined };
  }
}
