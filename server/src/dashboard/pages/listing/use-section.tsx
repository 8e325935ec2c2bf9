import type { Json } from '@agent-rental/contract';

const LIBRARIES = [
  ['LangChain', '@agent-rental/langchain'],
  ['AI SDK', '@agent-rental/ai-sdk'],
] as const;

/** A listing as its snippets call it. */
interface UseProps {
  id: string;
  baseUrl: string;
  /** An input that the agent takes; undefined where none was found. */
  sampleInput: Json | undefined;
}

const MOST_SAMPLE_CHARACTERS = 2_000;

/** The ways to use a rented agent, each as a text to copy. */
export function UseSection(props: UseProps) {
  return (
    <>
      <p>
        Rent the agent once. After that every client of your wallet has it as a tool. An{' '}
        <a href="/dashboard/keys">API key</a> is the login of a program: put yours in place of{' '}
        <code>$AGENT_RENTAL_API_KEY</code>.
      </p>
      {snippetsOf(props).map(({ name, text }) => (
        <details key={name}>
          <summary>{name}</summary>
          <pre tabIndex={0} role="group" aria-label={name}>
            {text}
          </pre>
        </details>
      ))}
    </>
  );
}

/** The texts to copy, by client. */
function snippetsOf({ id, baseUrl, sampleInput }: UseProps): { name: string; text: string }[] {
  const body = bodyOf(id, sampleInput);
  return [
    {
      name: 'Claude, ChatGPT, Cursor, VS Code and other MCP clients',
      text: `Add this address as an MCP server, and log in:\n${baseUrl}/mcp`,
    },
    {
      name: 'Claude Code',
      text: `claude mcp add --transport http agent-rental ${baseUrl}/mcp --header "Authorization: Bearer $AGENT_RENTAL_API_KEY"`,
    },
    ...LIBRARIES.map(([name, library]) => ({
      name,
      text: [
        `import { rentedTools } from '${library}';`,
        "import { createClient } from '@agent-rental/sdk';",
        `const client = createClient({ baseUrl: '${baseUrl}', apiKey: process.env.AGENT_RENTAL_API_KEY });`,
        'const tools = await rentedTools(client);',
      ].join('\n'),
    })),
    {
      name: 'curl',
      text: [
        `curl -s ${baseUrl}/v1/execute \\`,
        '  -H "Authorization: Bearer $AGENT_RENTAL_API_KEY" -H "Content-Type: application/json" \\',
        `  -d '${body.replaceAll("'", `'\\''`)}'`,
      ].join('\n'),
    },
    {
      name: 'Python',
      text: [
        'import json, os, urllib.request',
        '',
        `body = json.loads(${JSON.stringify(body)})`,
        'request = urllib.request.Request(',
        `    "${baseUrl}/v1/execute",`,
        '    data=json.dumps(body).encode(),',
        '    headers={',
        '        "Authorization": f"Bearer {os.environ[\'AGENT_RENTAL_API_KEY\']}",',
        '        "Content-Type": "application/json",',
        '    },',
        ')',
        'print(json.load(urllib.request.urlopen(request)))',
      ].join('\n'),
    },
  ];
}

/** The body of a run, as JSON in ASCII: a creator wrote the examples of the input. */
function bodyOf(id: string, sampleInput: Json | undefined): string {
  const body = { agent_id: id, task: 'Say what the agent should do.' };
  const whole = JSON.stringify({ ...body, input: sampleInput });
  const text = whole.length <= MOST_SAMPLE_CHARACTERS ? whole : JSON.stringify(body);
  return text.replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
