/** A function whose source text can be lifted out of its module. */
type PlainFunction = (...args: never[]) => unknown;

/**
 * Writes the text of a program for the sandbox's `run_javascript`: the body of an async function. It gets `input` and
 * `task` and returns the result of `main`.
 *
 * The text is made from the functions that the tests call, so the sandbox runs tested code. The functions must be
 * declarations that use only each other and the language. No text in them may go over several lines.
 *
 * @throws Error when a fenced Markdown block cannot hold the text.
 */
export function programText(main: PlainFunction, helpers: readonly PlainFunction[]): string {
  const declarations = [...helpers, main].map((declaration) => condense(declaration.toString()));
  const text = [...declarations, `return ${main.name}(input, task);`].join('\n');
  if (text.includes('```')) throw new Error(`The program of ${main.name} contains a Markdown fence.`);
  return text;
}

/** Drops comment lines and indentation: a model pays for every token of the program it hands on. */
function condense(source: string): string {
  return source
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('//'))
    .join('\n');
}

/** The system prompt of an agent whose whole work is one program: what to do, then the program itself. */
export function promptAround(role: string, program: string): string {
  return [
    role,
    '',
    'Call run_javascript once with exactly this program and `final: true`; its return value is the answer.',
    "Do not change the program and do not work out the answer yourself: the program reads the renter's input.",
    '',
    '```js',
    program,
    '```',
  ].join('\n');
}
