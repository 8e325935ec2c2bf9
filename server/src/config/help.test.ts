import { expect, test } from 'vitest';
import { environmentHelp } from './help.js';
import { environment } from './environment.js';

test('the help names every variable, with its values and its default', () => {
  const help = environmentHelp();
  const names = [...help.matchAll(/^ {2}([A-Z][A-Z0-9_]*) /gm)].map(([, name = '']) => name);
  expect(names.toSorted()).toEqual(Object.keys(environment.shape).toSorted());
  expect(help).toMatch(/^ {2}PORT +port of the HTTP API \(0 to 65535; default 8787\)$/m);
  expect(help).toMatch(/^ {2}SANDBOX_DRIVER .*\(auto \| bubblewrap \| deno \| e2b; default auto\)$/m);
});
