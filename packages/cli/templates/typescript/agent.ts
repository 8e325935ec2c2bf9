import { serveAgent } from '@agent-rental/sdk/creator';
import { readFileSync } from 'node:fs';

const { input_schema, output_schema } = JSON.parse(readFileSync('agent.json', 'utf8'));

const { url } = await serveAgent({
  inputSchema: input_schema,
  outputSchema: output_schema,
  run: ({ input }) => {
    const { text } = input as { text: string };
    const words = text.split(/\s+/).filter((word) => word !== '');
    const longest = words.reduce((found, word) => (word.length > found.length ? word : found), '');
    return { words: words.length, characters: text.length, longest };
  },
});
console.log(`The agent listens at ${url}`);
