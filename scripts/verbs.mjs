/** The commands that take a subject: `npm run <verb> -- <subject> [options]`. Each subject is a program or a test filter. */
export const VERBS = {
  fuzz: {
    summary: 'Searches for inputs that break a contract.',
    subjects: {
      api: {
        summary: 'requests made from the OpenAPI document (Python 3.11)',
        main: 'fuzz/dist/api/main.js',
      },
      program: { summary: 'the on-chain program against a model of it', main: 'fuzz/dist/program/main.js' },
      rpc: {
        summary: 'malformed bytes against the local chain',
        main: 'packages/local-chain/dist/testing/fuzz-rpc.js',
        options: {
          tries: { kind: 'number', text: 'how many requests', default: 100_000 },
          seed: { kind: 'number', text: 'of the requests', default: 1, least: 0 },
        },
        toArguments: ({ tries, seed }) => ['--tries', `${tries}`, '--seed', `${seed}`],
      },
    },
  },
  soak: {
    summary: 'Runs one part for long, with crashes in between.',
    subjects: {
      sandbox: {
        summary: 'hostile code beside an honest caller',
        main: 'resilience/dist/sandbox-soak/main.js',
      },
      strangers: {
        summary:
          'mixed attacks of strangers beside honest callers: times, event loop and memory (12 minutes)',
        main: 'resilience/dist/strangers/main.js',
      },
      money: {
        summary: 'charged runs with faults, crashes and forks: the debits equal the costs',
        main: 'resilience/dist/faults/money-soak/main.js',
      },
      payments: {
        summary: 'calls paid for in USDC with faults and crashes: the books of the till equal the chain',
        main: 'resilience/dist/faults/payments-soak/main.js',
      },
      chain: {
        summary: 'transfers on the local chain, its memory, and a restart (Linux)',
        main: 'packages/local-chain/dist/soak.js',
        options: {
          transactions: { kind: 'number', text: 'how many transfers', default: 100_000, least: 20_000 },
        },
        toArguments: ({ transactions }) => [`${transactions}`],
      },
    },
  },
  battery: {
    summary: 'Runs a long check of a whole marketplace.',
    subjects: {
      tests: {
        summary: 'the test files of which CI plays a sample, with every row (Linux, git)',
        tests: [],
        /** Pattern of the files (git grep -E). Files of resilience have other subjects. */
        sampled: String.raw`sampleOf\(|'full'|\[FORM\]|isPlayed\(|describe-conformance`,
        env: { CI: 'true', TEST_FORM: 'full' },
      },
      abort: {
        summary: 'runs aborted at random moments leave nothing behind',
        main: 'resilience/dist/aborts/main.js',
      },
      retries: {
        summary: 'MCP calls that are given up and made again are paid once, and so are equal calls at once',
        main: 'resilience/dist/retries/main.js',
      },
      'lost-answers': {
        summary:
          'calls that are paid for in their request and lose their answers: one payment, one charge, no lost result',
        main: 'resilience/dist/faults/lost-answers/main.js',
      },
      'crash-matrix': {
        summary:
          'the server is killed at every step of every kind of run, and of registrations: the money is right, nothing is half made (9 minutes)',
        main: 'resilience/dist/faults/crash-matrix/main.js',
      },
      kills: {
        summary:
          'kills of the server, the chain, PostgreSQL and Redis at each step of a run: back within 10 s, nothing lost or left (15 minutes)',
        main: 'resilience/dist/faults/kills/main.js',
      },
      'hostile-database': {
        summary: 'connections cut at every statement, a full disk, crashes and an old copy of PostgreSQL',
        main: 'resilience/dist/faults/hostile-database/main.js',
      },
      'hostile-rpc': {
        summary: 'an RPC endpoint that misbehaves in each way, and forks',
        main: 'resilience/dist/faults/hostile-rpc/main.js',
      },
      replicas: {
        summary:
          '10,000 mixed requests to four replicas, of which two are killed, and two added: limits, slots, runs and money (6 minutes)',
        main: 'resilience/dist/replicas/main.js',
      },
      'rolling-update': {
        summary: 'replicas are replaced one by one under load: no request fails',
        main: 'resilience/dist/replicas/rolling-update/main.js',
      },
      load: {
        summary: 'five agents at and above capacity (8 minutes)',
        main: 'resilience/dist/load/main.js',
      },
      plans: {
        summary:
          'no statement of the server reads a growing table as a whole, at 2,000,000 runs and 1,000,000 listings',
        main: 'resilience/dist/plans/main.js',
      },
      containers: {
        summary:
          'the image is built and docs/containers.md followed with Podman (Linux, root, network; minutes)',
        main: 'resilience/dist/containers/main.js',
      },
      arweave: {
        summary:
          'manifests on arlocal are read by the client of Arweave, its files by runs (network, a C++ compiler)',
        main: 'resilience/dist/arweave/main.js',
      },
      'public-schemas': {
        summary: 'schemas of public MCP servers, published as listings, take all of their values (network)',
        main: 'resilience/dist/public-schemas/main.js',
      },
      generators: {
        summary: 'clients that three generators make of the OpenAPI document rent and run (network)',
        project: 'end-to-end',
        tests: ['clients/generated-clients.test'],
      },
      python: {
        summary:
          'the Python package with six frameworks, and each template of a creator (network, Python 3.11)',
        project: 'end-to-end',
        tests: ['clients/python-package.test', 'clients/templates.test'],
        env: { CI: 'true', TEST_FORM: 'full' },
      },
      screenshots: {
        summary: 'pictures of each page for people, in docs/pages (Chromium)',
        main: 'resilience/dist/screenshots/main.js',
      },
      'deno-apis': {
        summary: 'what Deno reaches before it asks for a permission, at each upgrade of Deno (Linux)',
        main: 'resilience/dist/deno-api-sweep/main.js',
      },
    },
  },
  vendors: {
    summary: 'Runs the tests against a vendor, or its stand-in where its key is not set.',
    subjects: {
      models: {
        summary: 'OpenAI and Anthropic (OPENAI_API_KEY, ANTHROPIC_API_KEY)',
        project: 'unit',
        tests: ['model-gateway/vendors.test'],
      },
      e2b: { summary: 'sandboxes of E2B (E2B_API_KEY)', project: 'sandbox', tests: ['drivers/e2b'] },
    },
  },
};

/** The help text of a verb: its subjects, a line each. */
export function verbHelp(name) {
  const { summary, subjects } = VERBS[name];
  const width = Math.max(...Object.keys(subjects).map((subject) => subject.length)) + 2;
  const lines = Object.entries(subjects).map(
    ([subject, { summary: text }]) => `  ${subject.padEnd(width)}${text}`,
  );
  return [
    `npm run ${name} -- <subject> [options]`,
    summary,
    lines.join('\n'),
    `npm run ${name} -- <subject> --help lists the options of a subject.\n`,
  ].join('\n\n');
}
